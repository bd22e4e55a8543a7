#pragma once

#include "analyzers/evidence.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Part 3 of the three-part test: logical bytes moved ÷ compulsory bytes, summed over the chains whose
/// footprints are all known. Abstains where there are none. What was measured for all these chains is told
/// and decides nothing: on an H200 L2 counts 1.5 times the bytes of a streaming kernel (so does ncu; probably
/// what crosses between the halves of its L2), and DRAM sees only what L2 cannot hold.
/// False positive: intermediates that stay in a large L2 cost less than their bytes suggest.
std::vector<model::Finding> find_inflated_traffic(const Evidence& evidence);

} // namespace deepjit::analyzers
