#pragma once

#include "src/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace deepjit::gpu {

/// Launch costs measured on this machine with empty kernels of five arguments (launch_probe.hpp), no tracer
/// attached unless said. Each is nanoseconds; an absent one could not be measured.
struct Calibration {
    std::string device_uuid;
    std::string driver_version;
    std::string tracer_identity; ///< hash of the tracer library that `tracer_launch_ns` belongs to

    /// Wall time per launch of a burst on one stream: the rate at which the host submits.
    std::optional<double> stream_launch_ns;
    /// One replay of a graph with n kernel nodes in a row takes graph_intercept_ns + n * graph_node_ns
    /// between two events around it (fitted over several n). The intercept holds the host's time to submit
    /// the graph to an idle device.
    std::optional<double> graph_intercept_ns;
    std::optional<double> graph_node_ns;
    /// The same on the host's clock, from before the launch of the graph to after the synchronisation.
    std::optional<double> graph_wall_intercept_ns;
    std::optional<double> graph_wall_node_ns;
    /// What the tracer adds to each launch: traced minus untraced `stream_launch_ns`, each the median over
    /// interleaved processes. Absent where the tracer recorded nothing.
    std::optional<double> tracer_launch_ns;
};

struct LaunchMeasurement {
    int launches = 200; ///< in a burst
    int rounds = 60;    ///< bursts, of which the median counts
    /// Launched before. A process launches up to half as slowly again in its first 100 ms (H200 in a virtual
    /// machine, driver 580), with any CUPTI client more often than without: 50,000 launches are past that.
    int warm_up_launches = 0;
    bool with_graphs = false;
};

/// Measures in this process `stream_launch_ns` and, with `with_graphs`, the graph figures.
Result<Calibration> measure_launch_costs(int device_index, const LaunchMeasurement& measurement);

/// JSON of a calibration and back; unknown members are ignored.
std::string to_json(const Calibration& calibration);
Result<Calibration> calibration_from_json(std::string_view text);

} // namespace deepjit::gpu
