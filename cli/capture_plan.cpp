#include "cli/capture_plan.hpp"

#include "analyzers/advise.hpp"
#include "cli/trace_output.hpp"
#include "src/base/hash.hpp"
#include "src/base/text.hpp"
#include "src/model/trace_data.hpp"
#include "src/trace/trace.hpp"
#include "src/wire/capture_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace deepjit::cli {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

wire::CapturePlanStep step_of(const trace::KernelConfig& config) {
    wire::CapturePlanStep step;
    step.name_hash = hash_64(config.mangled_name);
    std::copy(config.grid.begin(), config.grid.end(), std::begin(step.grid));
    std::copy(config.block.begin(), config.block.end(), std::begin(step.block));
    return step;
}

/// The configurations launched on the chain's stream in order, and where in them the chain's runs begin.
struct StreamLaunches {
    std::vector<std::int64_t> configs;
    std::vector<std::size_t> run_starts;
};

StreamLaunches launches_of_stream(const model::TraceData& data, const model::Chain& chain) {
    std::set<std::int64_t> first_kernels;
    for (const auto& occurrence : chain.occurrences)
        if (!occurrence.empty()) first_kernels.insert(occurrence.front());
    const trace::Kernel* const representative = data.kernel(chain.steps.front().kernel_id);
    StreamLaunches launches;
    for (const trace::Kernel& kernel : data.kernels) {
        if (kernel.device_id != chain.device_id || kernel.stream_id != chain.stream_id ||
            kernel.process_id != representative->process_id)
            continue;
        if (first_kernels.contains(kernel.kernel_id)) launches.run_starts.push_back(launches.configs.size());
        launches.configs.push_back(kernel.config_id);
    }
    return launches;
}

/// How many launches before the chain tell its runs from the same kernels elsewhere in a frame; 0 where none
/// need to, or where the frame repeats itself so that none can.
std::size_t lead_of(const StreamLaunches& launches, std::size_t chain_steps) {
    const auto& configs = launches.configs;
    const auto& starts = launches.run_starts;
    if (starts.size() < 3) return 0;
    const std::size_t from = starts[1]; // a whole frame, and one before it
    const std::size_t period = starts[2] - starts[1];
    for (std::size_t lead = 0; lead < period && lead <= from; ++lead) {
        std::size_t alike = 0;
        for (std::size_t at = from; at < from + period && at + chain_steps <= configs.size(); ++at)
            if (at >= lead && std::equal(configs.begin() + static_cast<std::ptrdiff_t>(from - lead),
                                         configs.begin() + static_cast<std::ptrdiff_t>(from + chain_steps),
                                         configs.begin() + static_cast<std::ptrdiff_t>(at - lead)))
                ++alike;
        if (alike == 1) return lead;
    }
    return 0;
}

} // namespace

Result<std::string> capture_plan(const std::filesystem::path& trace_path, int chain_number,
                                 double short_kernel_ns, std::uint64_t limit_bytes) {
    DEEPJIT_TRY(const trace::Trace trace, trace::Trace::open(trace_path));
    DEEPJIT_TRY(const model::TraceData data, model::load_trace_data(trace));
    analyzers::AdviseOptions options;
    options.short_kernel_ns = short_kernel_ns;
    const model::Report report = analyzers::advise(data, options);
    const model::ChainAdvice* const advice = report.chain(chain_number);
    if (advice == nullptr)
        return usage_error(
            fmt::format("'{}' holds no chain {}", printable(trace_path.string()), chain_number),
            fmt::format("it holds {} chains", report.chains.size()),
            fmt::format("see them:\ndeepjit advise {}", shell_word(trace_path.string())));
    const model::Chain& chain = advice->chain;
    if (chain.in_graph)
        return usage_error(
            fmt::format("chain {} runs in a CUDA Graph, where its buffers cannot be captured", chain_number),
            "the tracer sees the graph's launch and not those in it",
            "record the program without the graph, and capture the chain of that trace");
    for (const model::ChainStep& step : chain.steps) {
        const trace::Kernel* const kernel = data.kernel(step.kernel_id);
        if (kernel == nullptr || data.config_of(*kernel) == nullptr)
            return failure(fmt::format("chain {} names a kernel that the trace does not hold", chain_number));
    }
    const StreamLaunches launches = launches_of_stream(data, chain);
    const std::size_t lead = lead_of(launches, chain.steps.size());
    if (lead + chain.steps.size() > wire::kMaxCaptureSteps)
        return usage_error(fmt::format("chain {} has {} launches, too many to capture", chain_number,
                                       lead + chain.steps.size()));
    std::map<std::int64_t, const trace::KernelConfig*> configs;
    for (const trace::KernelConfig& config : data.kernel_configs)
        configs[config.config_id] = &config;
    wire::CapturePlanHeader header;
    header.step_count = static_cast<std::uint32_t>(lead + chain.steps.size());
    header.lead_count = static_cast<std::uint32_t>(lead);
    header.limit_bytes = limit_bytes;
    std::string plan;
    append(plan, header);
    for (std::size_t i = 0; i < lead; ++i)
        append(plan, step_of(*configs.at(launches.configs[launches.run_starts[1] - lead + i])));
    for (const model::ChainStep& step : chain.steps)
        append(plan, step_of(*data.config_of(*data.kernel(step.kernel_id))));
    return plan;
}

} // namespace deepjit::cli
