#pragma once

#include "src/graph/chain_graph.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace deepjit::testing {

struct RandomChainOptions {
    /// Only ops whose float32 result is exact or correctly rounded, so that results must agree bit for bit.
    bool exact_ops_only = true;
    /// Every rounded value is an output too, so that each op can be judged from the values it really read.
    bool everything_escapes = false;
};

/// An elementwise chain of 1 to 12 ops on one shape, with mixed dtypes; the same for the same `random` state.
graph::ChainGraph random_chain(const std::string& name, std::int64_t elements,
                               const RandomChainOptions& options, std::mt19937_64& random);

/// Whether float32 arithmetic gives the correctly rounded result of this op.
bool is_exact_op(const std::string& type);

} // namespace deepjit::testing
