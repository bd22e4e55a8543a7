#include "fusers/verify/original_side.hpp"

#include "src/graph/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace deepjit::verify {

namespace {

using graph::ChainGraph;
using graph::Op;
using graph::TensorIndex;
using graph::TensorRole;

struct OpRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

bool is_round(const Op& op) {
    return op.type == graph::kRoundTo;
}

std::vector<OpRange> cut_behind_rounds(const std::vector<Op>& ops) {
    const bool has_rounds = std::any_of(ops.begin(), ops.end(), is_round);
    std::vector<OpRange> ranges;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const bool run_continues = i + 1 < ops.size() && has_rounds && is_round(ops[i + 1]);
        const bool ends_here = i + 1 == ops.size() || !has_rounds || (is_round(ops[i]) && !run_continues);
        if (!ends_here) continue;
        ranges.push_back({begin, i + 1});
        begin = i + 1;
    }
    return ranges;
}

/// Builds the chain of one range, copying each tensor it touches once.
class OriginalBuilder {
  public:
    OriginalBuilder(const ChainGraph& whole, int number) : whole_(whole) {
        original_.chain.name = fmt::format("{}_original_{}", whole.name, number);
        original_.chain.rounding = graph::Rounding::Match;
        original_.chain.provenance = kOriginalSideLabel;
    }

    void add_op(const Op& op) {
        Op copy = op;
        for (TensorIndex& input : copy.inputs)
            input = local(input);
        for (TensorIndex& output : copy.outputs) {
            produced_.insert(output);
            output = local(output);
        }
        if (!op.source.empty()) original_.source = op.source;
        original_.chain.ops.push_back(std::move(copy));
    }

    OriginalKernel finish(const std::set<TensorIndex>& needed_later) {
        for (const auto& [whole_index, index] : local_) {
            graph::Tensor& tensor = original_.chain.tensor(index);
            if (tensor.role == TensorRole::Constant) continue;
            if (!produced_.contains(whole_index)) {
                tensor.role = TensorRole::Input;
                original_.chain.inputs.push_back(index);
                original_.inputs.push_back(whole_index);
            } else if (needed_later.contains(whole_index)) {
                tensor.role = TensorRole::Output;
                original_.chain.outputs.push_back(index);
                original_.outputs.push_back(whole_index);
            } else {
                tensor.role = TensorRole::Intermediate;
            }
        }
        return std::move(original_);
    }

  private:
    TensorIndex local(TensorIndex whole_index) {
        const auto [place, is_new] =
            local_.try_emplace(whole_index, static_cast<TensorIndex>(original_.chain.tensors.size()));
        if (is_new) original_.chain.tensors.push_back(whole_.tensor(whole_index));
        return place->second;
    }

    const ChainGraph& whole_;
    OriginalKernel original_;
    std::map<TensorIndex, TensorIndex> local_;
    std::set<TensorIndex> produced_;
};

/// Tensors that must be in memory after `range`: outputs of the chain and what later ops read.
std::set<TensorIndex> needed_after(const ChainGraph& chain, const OpRange& range) {
    std::set<TensorIndex> needed(chain.outputs.begin(), chain.outputs.end());
    for (std::size_t i = range.end; i < chain.ops.size(); ++i)
        needed.insert(chain.ops[i].inputs.begin(), chain.ops[i].inputs.end());
    return needed;
}

/// Only a RoundTo's output, or the result of an op that counts as a kernel of its own, is in memory.
Result<void> check_stored(const ChainGraph& chain, const OpRange& range,
                          const std::set<TensorIndex>& needed) {
    if (range.end - range.begin == 1) return {};
    for (std::size_t i = range.begin; i < range.end; ++i) {
        if (is_round(chain.ops[i])) continue;
        for (const TensorIndex output : chain.ops[i].outputs) {
            const bool is_result =
                std::find(chain.outputs.begin(), chain.outputs.end(), output) != chain.outputs.end();
            if (needed.contains(output) && !is_result)
                return failure(
                    fmt::format(
                        "'{}' is read behind the place where its kernel stored, but is no stored value",
                        chain.tensor(output).name),
                    "it is the output of " + chain.ops[i].type + ", not of a RoundTo",
                    "read the output of the RoundTo that follows it");
        }
    }
    return {};
}

} // namespace

Result<std::vector<OriginalKernel>> split_into_originals(const ChainGraph& chain) {
    std::vector<OriginalKernel> originals;
    for (const OpRange& range : cut_behind_rounds(chain.ops)) {
        const std::set<TensorIndex> needed = needed_after(chain, range);
        DEEPJIT_CHECK(check_stored(chain, range, needed));
        OriginalBuilder builder(chain, static_cast<int>(originals.size()) + 1);
        for (std::size_t i = range.begin; i < range.end; ++i)
            builder.add_op(chain.ops[i]);
        OriginalKernel original = builder.finish(needed);
        if (!original.outputs.empty()) originals.push_back(std::move(original));
    }
    return originals;
}

} // namespace deepjit::verify
