#pragma once

#include "src/base/result.hpp"
#include "src/gpu/calibration.hpp"

namespace deepjit::cli {

/// The launch costs of device 0, and of the tracer on it: from the user's cache folder when they were
/// measured before with this device, driver and tracer, else measured in child processes and stored.
/// Initialises the driver in this process, to ask for the device's name, but makes no context. An error when
/// there is no GPU; a figure that could not be measured is absent.
Result<gpu::Calibration> calibration_for_this_machine();

} // namespace deepjit::cli
