#pragma once

#include "src/gpu/calibration.hpp"

#include <string>

namespace deepjit::cli {

/// A calibration as a table of at most 80 columns. Absent figures are left out.
std::string render_calibration_text(const gpu::Calibration& calibration);

} // namespace deepjit::cli
