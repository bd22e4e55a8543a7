#pragma once

#include "src/gpu/calibration.hpp"

namespace deepjit::gpu {

/// Time of a barrier of all blocks through one counter in global memory, in a cooperative kernel that does
/// nothing else: the difference between kernels with many and with few barriers, so that no launch is in it.
/// From one block up to as many of 256 threads as the device holds at once.
Result<std::vector<GridBarrier>> measure_grid_barriers(int device_index);

} // namespace deepjit::gpu
