#include "cli/fuse_open_ops.hpp"

#include "src/base/text.hpp"
#include "src/graph/op_table.hpp"
#include "src/model/kernel_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace deepjit::cli {
namespace {

/// Open ops with one reason.
struct Refusal {
    std::string reason;
    std::vector<int> kernels;        ///< ascending, from 1
    std::vector<std::string> labels; ///< of different kernels
};

/// Whether the op is the first of its kernel. A kernel's ops are adjacent and end with a RoundTo.
bool begins_kernel(const std::vector<graph::Op>& ops, std::size_t i) {
    if (i == 0 || ops[i].is_open() || ops[i - 1].is_open()) return true;
    if (ops[i].source != ops[i - 1].source) return true;
    return ops[i - 1].type == graph::kRoundTo && ops[i].type != graph::kRoundTo;
}

constexpr std::size_t kMostOfALabel = 60;

std::vector<Refusal> refusals_of(const graph::ChainGraph& chain) {
    std::vector<Refusal> refusals;
    int kernel = 0;
    constexpr std::size_t kMostOfAReason = 300; // a kernel's name in it may have thousands
    for (std::size_t i = 0; i < chain.ops.size(); ++i) {
        const graph::Op& op = chain.ops[i];
        if (begins_kernel(chain.ops, i)) ++kernel;
        if (!op.is_open()) continue;
        std::string reason = elide_middle(printable(op.reason), kMostOfAReason);
        if (reason.ends_with('.')) reason.pop_back();
        auto found = std::find_if(refusals.begin(), refusals.end(),
                                  [&](const Refusal& refusal) { return refusal.reason == reason; });
        if (found == refusals.end()) found = refusals.insert(refusals.end(), Refusal{reason, {}, {}});
        found->kernels.push_back(kernel);
        const std::string label = elide_middle(printable(model::kernel_label(op.source)), kMostOfALabel);
        if (std::find(found->labels.begin(), found->labels.end(), label) == found->labels.end())
            found->labels.push_back(label);
    }
    return refusals;
}

/// "kernel 2", "kernels 1 and 3 to 16"
std::string kernel_numbers(const std::vector<int>& kernels) {
    std::vector<std::string> runs;
    for (std::size_t begin = 0, end = 0; begin < kernels.size(); begin = end) {
        end = begin + 1;
        while (end < kernels.size() && kernels[end] == kernels[end - 1] + 1)
            ++end;
        if (end - begin > 2) {
            runs.push_back(fmt::format("{} to {}", kernels[begin], kernels[end - 1]));
            continue;
        }
        for (std::size_t i = begin; i < end; ++i)
            runs.push_back(fmt::format("{}", kernels[i]));
    }
    return fmt::format("kernel{} {}", kernels.size() == 1 ? "" : "s", join_words(runs));
}

std::string refusal_text(const Refusal& refusal) {
    // Most reasons name the kernel themselves.
    const bool is_named =
        std::all_of(refusal.labels.begin(), refusal.labels.end(), [&](const std::string& label) {
            return refusal.reason.find(label) != std::string::npos;
        });
    return fmt::format("{}{}: {}", kernel_numbers(refusal.kernels),
                       is_named ? std::string() : fmt::format(" ({})", join_words(refusal.labels)),
                       refusal.reason);
}

} // namespace

Diagnostic open_ops_refusal(const graph::ChainGraph& chain, const std::string& chain_file,
                            const std::string& next_command) {
    std::string evidence;
    std::size_t count = 0;
    for (const Refusal& refusal : refusals_of(chain)) {
        evidence += (evidence.empty() ? "" : "\n") + refusal_text(refusal);
        count += refusal.kernels.size();
    }
    const std::string message = count == 1
                                    ? "one kernel of the chain could not be lifted"
                                    : fmt::format("{} kernels of the chain could not be lifted", count);
    return failure(message, evidence,
                   fmt::format("in {}, replace each Open op by the ONNX ops that it computes; then run\n{}",
                               chain_file, next_command));
}

} // namespace deepjit::cli
