#pragma once

#include "tests/fake_cuda/fake_cuda.hpp"

namespace fake_cuda {

/// The Range Profiler of the fake CUPTI. Told of every kernel that the device runs: while it measures, it
/// waits for the kernel, as the real one does, and makes it a range.
/// Returns whether it measures.
bool measure_kernel(const DeviceWork& kernel);

} // namespace fake_cuda
