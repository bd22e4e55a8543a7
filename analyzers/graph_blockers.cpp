#include "analyzers/graph_blockers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deepjit::analyzers {
namespace {

using trace::CallCategory;
using trace::HostCall;

bool cannot_be_captured(const HostCall& call) {
    return call.category == CallCategory::Synchronise || call.category == CallCategory::Allocate ||
           call.category == CallCategory::ModuleLoad;
}

} // namespace

std::string graph_blocker(const model::TraceData& trace, const TrackFrames& frames, std::size_t first,
                          std::size_t count) {
    const Frame& frame = representative_frame(frames);
    std::vector<const HostCall*> launches;
    for (std::size_t i = first; i < first + count; ++i)
        if (const HostCall* call = trace.call_of(trace.kernels[frame.kernels[i]])) launches.push_back(call);
    if (launches.size() < 2 || launches.front() == launches.back()) return {};
    const HostCall& begin = *launches.front();
    const HostCall& end = *launches.back();

    std::vector<std::pair<std::int64_t, std::string>> blockers; // host time, name
    const auto from =
        std::lower_bound(trace.host_calls.begin(), trace.host_calls.end(), begin.end_ns,
                         [](const HostCall& call, std::int64_t time) { return call.start_ns < time; });
    std::map<std::uint32_t, const HostCall*> copies; // by correlation
    for (auto call = from; call != trace.host_calls.end() && call->start_ns < end.start_ns; ++call) {
        if (call->process_id != begin.process_id || call->thread_id != begin.thread_id) continue;
        if (cannot_be_captured(*call)) blockers.emplace_back(call->start_ns, call->api);
        if (call->category == CallCategory::Copy) copies[call->correlation_id] = &*call;
    }
    for (const trace::MemoryOp& op : trace.memory_ops) {
        if (!op.pageable || op.process_id != begin.process_id) continue;
        const auto copy = copies.find(op.correlation_id);
        if (copy != copies.end()) blockers.emplace_back(copy->second->start_ns, "a pageable copy");
    }
    if (blockers.empty()) return {};
    std::sort(blockers.begin(), blockers.end());

    std::size_t longest = 0;
    std::size_t in_stretch = 0;
    std::size_t after_first = 0; // launches before the first blocker
    auto blocker = blockers.begin();
    for (std::size_t i = 0; i < launches.size(); ++i) {
        for (; blocker != blockers.end() && blocker->first < launches[i]->start_ns; ++blocker) {
            if (blocker == blockers.begin()) after_first = i;
            in_stretch = 0;
        }
        longest = std::max(longest, ++in_stretch);
    }
    return fmt::format("{} after launch {} (the longest stretch without such holds {} launch{})",
                       blockers.front().second, after_first, longest, longest == 1 ? "" : "es");
}

} // namespace deepjit::analyzers
