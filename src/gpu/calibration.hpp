#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace deepjit::gpu {

/// Launch costs measured on this machine with nearly empty kernels of five arguments, no tracer attached
/// unless said. Each is nanoseconds; an absent one could not be measured.
struct Calibration {
    std::string device_uuid;
    std::string driver_version;
    std::string tracer_identity; ///< size and hash of the tracer library that `tracer_launch_ns` belongs to

    /// Wall time per launch in a burst on one stream: the rate at which the host can submit.
    std::optional<double> stream_launch_ns;
    /// Replay of a graph with n kernel nodes in a chain takes graph_intercept_ns + n * graph_node_ns (event
    /// time on the device; fitted over several n).
    std::optional<double> graph_intercept_ns;
    std::optional<double> graph_node_ns;
    /// What the tracer adds to each launch: traced minus untraced wall time per launch of the same burst,
    /// runs interleaved, median of the differences.
    std::optional<double> tracer_launch_ns;
};

/// Stream and graph figures of one device, measured in this process, which must not be traced.
Result<Calibration> measure_launch_costs(int device_index);

/// Wall time per launch of a burst on one stream, lowest of `rounds`: what the child of the tracer
/// measurement runs.
Result<double> measure_stream_launch_ns(int device_index, int launches, int rounds);

/// JSON text of a calibration and back.
std::string to_json(const Calibration& calibration);
Result<Calibration> calibration_from_json(std::string_view text);

} // namespace deepjit::gpu
