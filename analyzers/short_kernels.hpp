#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Part 1 of the three-part test: short launches ÷ launches, and time in short kernels ÷ time in kernels, of
/// one frame, by the median duration at each place of the frame.
/// False positive: many short kernels on other streams that hide behind long ones.
std::vector<model::Finding> find_short_kernels(const Evidence& evidence);

} // namespace deepjit::analyzers
