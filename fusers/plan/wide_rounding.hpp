#pragma once

#include "src/graph/chain_graph.hpp"

namespace deepjit::plan {

/// The chain without the RoundTo ops that `wide` rounding allows to drop: those of intermediates from which
/// no comparison and no Floor, Ceil or Round is computed, where a rounding error would become a jump.
graph::ChainGraph without_droppable_rounding(const graph::ChainGraph& chain);

} // namespace deepjit::plan
