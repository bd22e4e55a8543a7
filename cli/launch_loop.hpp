#pragma once

#include "src/base/result.hpp"
#include "src/gpu/launch_costs.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deepjit::cli {

struct LaunchLoop {
    gpu::LaunchMeasurement measurement;
    /// Recorded by this tracer library, as `profile` would; absent: no tracer.
    std::optional<std::filesystem::path> tracer_library;
    /// Variables that tell the tracer what to leave out.
    std::vector<std::pair<std::string, std::string>> tracer_options;
};

struct KernelTimes {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

/// What came back from the child and, where it was traced, from its tracer.
struct LaunchLoopOutcome {
    gpu::Calibration costs;
    bool tracer_started = false;      ///< it wrote a file
    int cupti_error = 0;              ///< CUptiResult of its first failure, 0 where none
    std::string tracer_error;         ///< the tracer's sentence on that
    std::vector<KernelTimes> kernels; ///< as recorded
    int graph_launches = 0;           ///< recorded as a whole
};

/// Runs this program as `deepjit internal-launch-loop` and reads what it printed and recorded. The
/// environment's own CUDA_INJECTION64_PATH is not passed on.
Result<LaunchLoopOutcome> run_launch_loop(const LaunchLoop& loop);

} // namespace deepjit::cli
