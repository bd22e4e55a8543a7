#pragma once

#include "src/gpu/calibration.hpp"

namespace deepjit::gpu {

/// Copies inside one kernel, again and again over the same footprint, so that what fits in L2 stays there and
/// no launch is in the time. From 1 MiB up to 1 GiB, but at most an eighth of the device's memory; ends early
/// where memory cannot be had.
Result<std::vector<CopyBandwidth>> measure_copies(int device_index);

} // namespace deepjit::gpu
