#include "analyzers/busy_time.hpp"

#include "analyzers/tracks.hpp"

#include <algorithm>

namespace deepjit::analyzers {

namespace {

std::vector<Interval> work_of(const model::TraceData& trace, std::uint32_t device_id) {
    std::vector<Interval> work;
    const auto add = [&](const auto& op) {
        if (op.device_id == device_id && has_times(op)) work.push_back({op.start_ns, op.end_ns});
    };
    std::for_each(trace.kernels.begin(), trace.kernels.end(), add);
    std::for_each(trace.memory_ops.begin(), trace.memory_ops.end(), add);
    return work;
}

} // namespace

BusyTime::BusyTime(const model::TraceData& trace, std::uint32_t device_id)
    : BusyTime(work_of(trace, device_id)) {}

BusyTime::BusyTime(std::vector<Interval> work) {
    std::sort(work.begin(), work.end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
    for (const Interval& op : work) {
        if (!busy_.empty() && op.start_ns <= busy_.back().end_ns)
            busy_.back().end_ns = std::max(busy_.back().end_ns, op.end_ns);
        else
            busy_.push_back(op);
    }
}

std::size_t BusyTime::first_ending_after(std::int64_t time_ns) const {
    const auto found =
        std::upper_bound(busy_.begin(), busy_.end(), time_ns,
                         [](std::int64_t time, const Interval& op) { return time < op.end_ns; });
    return static_cast<std::size_t>(found - busy_.begin());
}

std::int64_t BusyTime::busy_within(Interval window) const {
    std::int64_t total = 0;
    for (std::size_t i = first_ending_after(window.start_ns);
         i < busy_.size() && busy_[i].start_ns < window.end_ns; ++i)
        total += std::min(busy_[i].end_ns, window.end_ns) - std::max(busy_[i].start_ns, window.start_ns);
    return total;
}

std::vector<Interval> BusyTime::gaps_within(Interval window) const {
    std::vector<Interval> gaps;
    // The interval that ends exactly at the window's start borders the window's first gap.
    std::size_t i = first_ending_after(window.start_ns - 1);
    for (; i + 1 < busy_.size() && busy_[i + 1].start_ns <= window.end_ns; ++i)
        if (busy_[i].end_ns >= window.start_ns) gaps.push_back({busy_[i].end_ns, busy_[i + 1].start_ns});
    return gaps;
}

} // namespace deepjit::analyzers
