#include "fusers/lift/lift_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deepjit::lift {
namespace {

/// Frames whose scalars are compared with those of the representative frame.
constexpr std::size_t kMostFramesCompared = 64;

class LaunchReader {
  public:
    static Result<LaunchReader> open(const trace::Trace& trace) {
        LaunchReader reader(trace);
        DEEPJIT_TRY(auto kernels, trace.kernels());
        for (const auto& kernel : kernels)
            reader.kernels_[kernel.kernel_id] = kernel;
        DEEPJIT_TRY(auto configs, trace.kernel_configs());
        for (auto& config : configs)
            reader.names_[config.config_id] = std::move(config.name);
        return reader;
    }

    /// A launch whose arguments were not recorded has none; its lifter says so.
    Result<ObservedLaunch> read(std::int64_t kernel_id) const {
        const auto kernel = kernels_.find(kernel_id);
        if (kernel == kernels_.end()) return failure(fmt::format("The trace has no kernel {}.", kernel_id));
        ObservedLaunch launch;
        const auto name = names_.find(kernel->second.config_id);
        if (name != names_.end()) launch.kernel_name = name->second;
        if (kernel->second.arguments_id == 0) return launch;
        DEEPJIT_TRY(launch.arguments, trace_.arguments(kernel->second.arguments_id));
        return launch;
    }

    Result<std::vector<ObservedLaunch>> read(const std::vector<std::int64_t>& kernel_ids) const {
        std::vector<ObservedLaunch> launches;
        for (const std::int64_t id : kernel_ids) {
            DEEPJIT_TRY(ObservedLaunch launch, read(id));
            launches.push_back(std::move(launch));
        }
        return launches;
    }

  private:
    explicit LaunchReader(const trace::Trace& trace) : trace_(trace) {}

    const trace::Trace& trace_;
    std::map<std::int64_t, trace::Kernel> kernels_;
    std::map<std::int64_t, std::string> names_;
};

std::vector<ObservedWrite> writes_of(const model::Chain& chain) {
    std::vector<ObservedWrite> writes;
    for (const auto& buffer : chain.written)
        writes.push_back({buffer.address, buffer.escapes, buffer.reason});
    return writes;
}

/// What a launch computes, as far as it could change from frame to frame.
std::string scalars_text(const graph::ChainGraph& chain) {
    std::string text;
    for (const auto& tensor : chain.tensors)
        for (const double value : tensor.values)
            text += fmt::format("{} ", value);
    for (const auto& op : chain.ops) {
        text += op.type;
        for (const auto& [name, value] : op.attributes)
            text += fmt::format(" {}={}", name, value);
        text += fmt::format("({}) ", chain.tensor(op.outputs.empty() ? 0 : op.outputs[0]).element_count());
    }
    return text;
}

} // namespace

Result<LiftedChain> lift_chain(const trace::Trace& trace, const model::Chain& chain,
                               const std::string& name) {
    DEEPJIT_TRY(const LaunchReader reader, LaunchReader::open(trace));
    std::vector<std::int64_t> representative;
    for (const auto& step : chain.steps)
        representative.push_back(step.kernel_id);
    DEEPJIT_TRY(auto launches, reader.read(representative));
    for (std::size_t i = 0; i < launches.size(); ++i)
        launches[i].buffers = chain.steps[i].buffers;
    const auto frames = static_cast<std::int64_t>(chain.occurrences.size());
    DEEPJIT_TRY(LiftedChain lifted, lift_launches(name, launches, writes_of(chain), frames));
    lifted.chain.provenance =
        fmt::format("chain {} of a trace, {} kernels", chain.number, chain.steps.size());
    if (lifted.open_ops > 0) return lifted;

    const std::string expected = scalars_text(lifted.chain);
    const std::size_t step = std::max<std::size_t>(1, chain.occurrences.size() / kMostFramesCompared);
    for (std::size_t frame = 0; frame < chain.occurrences.size(); frame += step) {
        DEEPJIT_TRY(const auto other_launches, reader.read(chain.occurrences[frame]));
        DEEPJIT_TRY(const LiftedChain other, lift_launches(name, other_launches, {}, frames));
        if (scalars_text(other.chain) != expected)
            return failure(
                fmt::format("The scalars or sizes of chain {} in frame {} differ from those of the frame it "
                            "was lifted from.",
                            chain.number, frame + 1),
                "A fused kernel holds them as constants.",
                "Lift a chain whose arguments repeat, or write its chain.json by hand.");
    }
    return lifted;
}

} // namespace deepjit::lift
