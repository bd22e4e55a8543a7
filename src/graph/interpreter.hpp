#pragma once

#include "src/graph/chain_graph.hpp"

#include <vector>

namespace deepjit::graph {

/// Elements of one tensor in row-major order, as float64 whatever the tensor's dtype.
using Values = std::vector<double>;

enum class Arithmetic {
    Float64, ///< no rounding at all, but inputs are values of their dtype: the reference
    Rounded, ///< every RoundTo rounds, and every op's result is rounded to its output's dtype: the originals'
};

/// Runs the chain on `inputs` (in the order of ChainGraph::inputs) and returns its outputs in order. In
/// Float64 arithmetic the outputs are not rounded to their dtype either. Refuses Open ops.
Result<std::vector<Values>> interpret(const ChainGraph& chain, const std::vector<Values>& inputs,
                                      Arithmetic arithmetic);

} // namespace deepjit::graph
