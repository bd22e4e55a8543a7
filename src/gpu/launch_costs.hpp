#pragma once

#include "src/gpu/calibration.hpp"

namespace deepjit::gpu {

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

} // namespace deepjit::gpu
