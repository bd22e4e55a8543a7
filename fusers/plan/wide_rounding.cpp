#include "fusers/plan/wide_rounding.hpp"

#include "src/graph/op_table.hpp"

#include <algorithm>
#include <numeric>

namespace deepjit::plan {
namespace {

using graph::ChainGraph;
using graph::Op;
using graph::TensorIndex;

bool is_discontinuous(const Op& op) {
    if (op.type == "Floor" || op.type == "Ceil" || op.type == "Round") return true;
    const graph::OpDefinition* definition = graph::find_op(op.type);
    return definition != nullptr && definition->signature == graph::Signature::Comparison;
}

/// Tensors from which a discontinuous op is computed, directly or through other ops.
std::vector<bool> feeds_discontinuity(const ChainGraph& chain) {
    std::vector<bool> feeds(chain.tensors.size(), false);
    for (auto op = chain.ops.rbegin(); op != chain.ops.rend(); ++op) {
        const bool any_output = std::any_of(op->outputs.begin(), op->outputs.end(), [&](TensorIndex index) {
            return feeds[static_cast<std::size_t>(index)];
        });
        if (!any_output && !is_discontinuous(*op)) continue;
        for (const TensorIndex index : op->inputs)
            feeds[static_cast<std::size_t>(index)] = true;
    }
    return feeds;
}

/// Removes tensors that nothing refers to and renumbers the rest.
void drop_unused_tensors(ChainGraph& chain) {
    std::vector<bool> used(chain.tensors.size(), false);
    const auto mark = [&](const std::vector<TensorIndex>& indices) {
        for (const TensorIndex index : indices)
            used[static_cast<std::size_t>(index)] = true;
    };
    mark(chain.inputs);
    mark(chain.outputs);
    for (const Op& op : chain.ops) {
        mark(op.inputs);
        mark(op.outputs);
    }
    std::vector<TensorIndex> renumbered(chain.tensors.size(), 0);
    std::vector<graph::Tensor> kept;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) continue;
        renumbered[i] = static_cast<TensorIndex>(kept.size());
        kept.push_back(std::move(chain.tensors[i]));
    }
    chain.tensors = std::move(kept);
    const auto renumber = [&](std::vector<TensorIndex>& indices) {
        for (TensorIndex& index : indices)
            index = renumbered[static_cast<std::size_t>(index)];
    };
    renumber(chain.inputs);
    renumber(chain.outputs);
    for (Op& op : chain.ops) {
        renumber(op.inputs);
        renumber(op.outputs);
    }
}

} // namespace

ChainGraph without_droppable_rounding(const ChainGraph& chain) {
    const std::vector<bool> feeds = feeds_discontinuity(chain);
    ChainGraph wide = chain;
    wide.ops.clear();
    std::vector<TensorIndex> replacement(chain.tensors.size());
    std::iota(replacement.begin(), replacement.end(), 0);
    for (const Op& op : chain.ops) {
        Op kept = op;
        for (TensorIndex& index : kept.inputs)
            index = replacement[static_cast<std::size_t>(index)];
        if (op.type == graph::kRoundTo &&
            chain.tensor(op.outputs[0]).role == graph::TensorRole::Intermediate &&
            !feeds[static_cast<std::size_t>(op.outputs[0])]) {
            replacement[static_cast<std::size_t>(op.outputs[0])] = kept.inputs[0];
            continue;
        }
        wide.ops.push_back(std::move(kept));
    }
    drop_unused_tensors(wide);
    return wide;
}

} // namespace deepjit::plan
