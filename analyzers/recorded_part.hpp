#pragma once

#include "analyzers/evidence.hpp"
#include "src/model/report.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Says which part of the run the trace holds, where that is not all of it. Nothing for a trace without
/// windows, such as one from another tool.
std::vector<model::Finding> find_recorded_part(const Evidence& evidence);

} // namespace deepjit::analyzers
