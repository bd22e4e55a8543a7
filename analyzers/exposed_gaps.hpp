#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Part 2 of the three-part test: exposed launch gaps ÷ span of the frame, both without the tracer's cost.
/// The idle time between frames is in neither.
std::vector<model::Finding> find_exposed_gaps(const Evidence& evidence);

} // namespace deepjit::analyzers
