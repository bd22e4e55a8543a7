#pragma once

#include "src/base/result.hpp"
#include "src/gpu/calibration.hpp"

namespace deepjit::cli {

/// The launch costs of device 0, and of the tracer on it: from the user's cache folder when they were
/// measured before with this device, driver and tracer, else measured in under two seconds (in child
/// processes, so that this one never initialises CUDA) and stored. An error when there is no GPU; a figure
/// that could not be measured is absent.
Result<gpu::Calibration> calibration_for_this_machine();

} // namespace deepjit::cli
