#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deepjit::gpu {

/// A figure with its spread: over the processes that measured it, else over the rounds of one.
struct Measured {
    double typical = 0; ///< median
    double low = 0;
    double high = 0;
};

/// Median, lowest and highest; zeros for no value.
Measured spread_of(std::vector<double> values);

/// How fast device memory is copied when the copies go round in a footprint of this size.
struct CopyBandwidth {
    std::int64_t footprint_bytes = 0; ///< source and destination together
    Measured bytes_per_second;        ///< read and written together
};

/// What it costs all blocks of a kernel to wait for one another.
struct GridBarrier {
    int blocks = 0;
    Measured barrier_ns;
};

/// What launches, copies and the tracer cost on this machine. Launches are measured with empty kernels of
/// five arguments (launch_probe.hpp), no tracer attached unless said. An absent figure could not be measured,
/// or was not asked for.
struct Calibration {
    std::string device_uuid;
    std::string driver_version;
    std::string tracer_identity; ///< hash of the tracer library that the tracer's figures belong to

    /// Wall time per launch of a burst on one stream: the rate at which the host submits.
    std::optional<Measured> stream_launch_ns;
    /// One replay of a graph with n kernel nodes in a row takes graph_intercept_ns + n * graph_node_ns
    /// between two events around it (fitted over several n). The intercept holds the host's time to submit
    /// the graph to an idle device.
    std::optional<Measured> graph_intercept_ns;
    std::optional<Measured> graph_node_ns;
    /// The same on the host's clock, from before the launch of the graph to after the synchronisation.
    std::optional<Measured> graph_wall_intercept_ns;
    std::optional<Measured> graph_wall_node_ns;

    // What the tracer adds: traced minus untraced, medians over interleaved processes; the spread is that of
    // the pairs. Absent where the tracer recorded nothing.

    /// To a launch in a stream, as `profile` records by default; and with kernel records alone, and with
    /// launch calls but without their arguments.
    std::optional<Measured> tracer_launch_ns;
    std::optional<Measured> tracer_launch_kernels_ns;
    std::optional<Measured> tracer_launch_calls_ns;
    /// To a frame that launches a graph of n kernel nodes and waits: tracer_graph_ns + n *
    /// tracer_graph_node_ns.
    std::optional<Measured> tracer_graph_ns;
    std::optional<Measured> tracer_graph_node_ns;
    /// The same with `profile --graph-level`.
    std::optional<Measured> tracer_graph_level_ns;
    std::optional<Measured> tracer_graph_level_node_ns;

    std::vector<CopyBandwidth> copies; ///< by footprint, growing
    std::vector<GridBarrier> barriers; ///< by blocks, growing
};

/// JSON of a calibration and back; unknown members are ignored.
std::string to_json(const Calibration& calibration);
Result<Calibration> calibration_from_json(std::string_view text);

} // namespace deepjit::gpu
