#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Records that CUPTI dropped or that were lost, kernels without times or without their launch calls,
/// processes that were killed. What rests on them is too low; K may be wrong.
std::vector<model::Finding> find_incomplete_trace(const Evidence& evidence);

} // namespace deepjit::analyzers
