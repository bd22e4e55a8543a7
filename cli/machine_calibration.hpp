#pragma once

#include "src/base/result.hpp"
#include "src/gpu/calibration.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace deepjit::cli {

/// The launch costs of device 0, and of the tracer on it: from the user's cache folder when they were
/// measured before with this device, driver and tracer, else measured in child processes and stored, without
/// what only `calibrate` measures. Initialises the driver in this process, to ask for the device's name, but
/// makes no context. An error when there is no GPU; a figure that could not be measured is absent.
Result<gpu::Calibration> calibration_for_this_machine();

/// The stored one, or nothing where there is none. Otherwise as above.
Result<std::optional<gpu::Calibration>> stored_calibration();

struct CompleteCalibration {
    gpu::Calibration calibration;
    std::filesystem::path stored_at;      ///< empty where it was not
    std::vector<Diagnostic> not_measured; ///< what is absent, and why
    std::optional<Diagnostic> not_stored;
};
/// Measures everything afresh, which takes about half a minute and uses device 0 in this process, and stores
/// it, unless the tracer could not be measured: figures without it would hide that from `profile`. `on_step`
/// is told what is about to be measured.
Result<CompleteCalibration> calibrate_completely(const std::function<void(std::string_view)>& on_step);

} // namespace deepjit::cli
