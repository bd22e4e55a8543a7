#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Part 3 of the three-part test: logical bytes moved ÷ compulsory bytes, summed over the chains whose
/// footprints are all known. Abstains where there are none.
/// False positive: intermediates that stay in a large L2 cost less than their bytes suggest.
std::vector<model::Finding> find_inflated_traffic(const Evidence& evidence);

} // namespace deepjit::analyzers
