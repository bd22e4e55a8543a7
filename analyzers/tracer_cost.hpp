#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Whether the cost of tracing is known. Without calibration L is as traced, which is too high.
std::vector<model::Finding> find_tracer_cost(const Evidence& evidence);

} // namespace deepjit::analyzers
