#include "analyzers/gaps.hpp"

#include "analyzers/statistics.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace deepjit::analyzers {
namespace {

/// The first launch after the device has drained reaches it up to a tenth sooner than one in a burst; a
/// kernel that waits for another one waits several times as long.
constexpr double kSubmitLatencyMargin = 1.25;

using model::GapCause;
using trace::CallCategory;
using trace::HostCall;

std::int64_t overlap_ns(Interval a, Interval b) {
    return std::max<std::int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns));
}

std::vector<Interval> overheads_of(const model::TraceData& trace) {
    std::vector<Interval> overheads;
    for (const trace::Overhead& overhead : trace.overheads)
        overheads.push_back({overhead.start_ns, overhead.end_ns});
    return overheads;
}

/// Calls of each thread in order, and where each call stands among them.
class HostThreads {
  public:
    explicit HostThreads(const model::TraceData& trace) {
        for (const HostCall& call : trace.host_calls) {
            auto& calls = threads_[{call.process_id, call.thread_id}];
            positions_[&call] = calls.size();
            calls.push_back(&call);
        }
    }
    /// Calls of the thread before `call`, the nearest first, that end after `since_ns`.
    std::vector<const HostCall*> before(const HostCall& call, std::int64_t since_ns) const {
        const auto& calls = threads_.at({call.process_id, call.thread_id});
        std::vector<const HostCall*> found;
        for (std::size_t i = positions_.at(&call); i-- > 0 && calls[i]->end_ns > since_ns;)
            found.push_back(calls[i]);
        return found;
    }

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const HostCall*>> threads_;
    std::unordered_map<const HostCall*, std::size_t> positions_;
};

class GapFinder {
  public:
    GapFinder(const model::TraceData& trace, const BusyTime& busy, const AdviseOptions& options,
              std::uint32_t device_id)
        : trace_(trace), busy_(busy), options_(options), device_id_(device_id), threads_(trace),
          tracer_(overheads_of(trace)) {}

    GapAnalysis find(const TrackFrames& frames) {
        GapAnalysis analysis;
        for (const Frame& frame : frames.frames) {
            const std::int64_t until_ns = frame.next_start_ns.value_or(frame.span.end_ns);
            std::vector<Gap> gaps;
            for (const Interval& interval : busy_.gaps_within({frame.span.start_ns, until_ns}))
                gaps.push_back(gap_at(interval, frame));
            analysis.by_frame.push_back(std::move(gaps));
        }
        analysis.submit_latency_ns = submit_latency(analysis);
        for (auto& gaps : analysis.by_frame)
            classify_all(gaps, analysis.submit_latency_ns);
        return analysis;
    }

  private:
    Gap gap_at(Interval interval, const Frame& frame) const {
        Gap gap;
        gap.interval = interval;
        gap.between_frames = interval.start_ns >= frame.span.end_ns;
        gap.next_kernel = kernel_starting_at(interval.end_ns);
        gap.before_copy = gap.next_kernel >= trace_.kernels.size();
        return gap;
    }

    /// Index of the kernel that starts then, or kernels.size() where it was a copy.
    std::size_t kernel_starting_at(std::int64_t start_ns) const {
        const auto found = std::lower_bound(trace_.kernels.begin(), trace_.kernels.end(),
                                            std::make_tuple(device_id_, start_ns),
                                            [](const trace::Kernel& kernel, const auto& key) {
                                                return std::tie(kernel.device_id, kernel.start_ns) < key;
                                            });
        if (found == trace_.kernels.end() || found->device_id != device_id_ || found->start_ns != start_ns)
            return trace_.kernels.size();
        return static_cast<std::size_t>(found - trace_.kernels.begin());
    }

    const HostCall* launch_ending(const Gap& gap) const {
        return gap.next_kernel < trace_.kernels.size() ? trace_.call_of(trace_.kernels[gap.next_kernel])
                                                       : nullptr;
    }

    /// The 75th percentile tolerates a slow first launch, and is still below the queueing of a busy device.
    double submit_latency(const GapAnalysis& analysis) const {
        std::vector<double> latencies;
        for (const auto& gaps : analysis.by_frame)
            for (const Gap& gap : gaps) {
                const HostCall* call = launch_ending(gap);
                if (call == nullptr || call->start_ns < gap.interval.start_ns) continue;
                latencies.push_back(std::max(0.0, static_cast<double>(gap.interval.end_ns - call->end_ns)));
            }
        return latencies.empty() ? -1 : percentile(std::move(latencies), 0.75);
    }

    bool in_same_graph_launch_as_before(std::size_t kernel_index) const {
        if (kernel_index == 0 || kernel_index >= trace_.kernels.size()) return false;
        const trace::Kernel& kernel = trace_.kernels[kernel_index];
        const trace::Kernel& before = trace_.kernels[kernel_index - 1];
        return kernel.graph_id != 0 && before.graph_id == kernel.graph_id &&
               before.correlation_id == kernel.correlation_id && before.process_id == kernel.process_id;
    }

    /// What kept the launching thread, or empty.
    std::string blocker_of(const Gap& gap, const HostCall& launch) const {
        const Interval wait{gap.interval.start_ns, std::min(launch.start_ns, gap.interval.end_ns)};
        if (wait.end_ns <= wait.start_ns) return {};
        std::int64_t in_calls_ns = 0;
        std::map<std::string, std::int64_t> by_api;
        for (const HostCall* call : threads_.before(launch, gap.interval.start_ns)) {
            const std::int64_t time_ns = overlap_ns(wait, {call->start_ns, call->end_ns});
            in_calls_ns += time_ns;
            switch (call->category) {
            case CallCategory::Synchronise:
                return call->api;
            case CallCategory::Copy:
            case CallCategory::Allocate:
            case CallCategory::ModuleLoad:
            case CallCategory::Graph:
                by_api[call->api] += time_ns;
                break;
            default:
                break;
            }
        }
        for (const auto& [api, time_ns] : by_api)
            if (2 * time_ns >= gap.interval.length_ns()) return api;
        if (static_cast<double>(wait.length_ns() - in_calls_ns) >= options_.host_work_ns) return "host work";
        return {};
    }

    void classify_all(std::vector<Gap>& gaps, double submit_latency_ns) const {
        std::int64_t longest_ns = 0;
        for (Gap& gap : gaps) {
            classify(gap, submit_latency_ns);
            if (gap.is_exposed()) longest_ns = std::max(longest_ns, gap.interval.length_ns());
        }
        for (Gap& gap : gaps)
            gap.like_a_launch = gap.between_frames && gap.interval.length_ns() <= 2 * longest_ns;
    }

    void classify(Gap& gap, double submit_latency_ns) const {
        gap.corrected_ns = static_cast<double>(gap.interval.length_ns());
        if (2 * tracer_.busy_within(gap.interval) >= gap.interval.length_ns()) {
            gap.cause = GapCause::Tracer;
            return;
        }
        if (in_same_graph_launch_as_before(gap.next_kernel)) {
            gap.cause = GapCause::DeviceLatency;
            return;
        }
        const HostCall* launch = launch_ending(gap);
        if (launch == nullptr) {
            gap.cause = gap.before_copy ? GapCause::Blocked : GapCause::Unknown;
            if (gap.before_copy) gap.blocker = "copy or memset";
            return;
        }
        gap.blocker = blocker_of(gap, *launch);
        if (!gap.blocker.empty()) {
            gap.cause = GapCause::Blocked;
            return;
        }
        const bool began_late = launch->start_ns >= gap.interval.start_ns;
        const bool started_at_once =
            submit_latency_ns >= 0 && static_cast<double>(gap.interval.end_ns - launch->end_ns) <=
                                          kSubmitLatencyMargin * submit_latency_ns;
        gap.cause = began_late || started_at_once ? GapCause::HostLate : GapCause::DeviceLatency;
        // What tracing adds to a graph's launch is another figure, and is taken off the frame as a whole.
        if (gap.cause == GapCause::HostLate && trace_.kernels[gap.next_kernel].graph_id == 0)
            gap.corrected_ns =
                std::max(0.0, gap.corrected_ns - trace_.calibration.tracer_launch_ns.value_or(0));
    }

    const model::TraceData& trace_;
    const BusyTime& busy_;
    const AdviseOptions& options_;
    std::uint32_t device_id_;
    HostThreads threads_;
    BusyTime tracer_; ///< CUPTI's overhead records
};

} // namespace

GapAnalysis find_gaps(const model::TraceData& trace, const TrackFrames& frames, const BusyTime& busy,
                      const AdviseOptions& options) {
    return GapFinder(trace, busy, options, frames.track.device_id).find(frames);
}

std::vector<model::GapTotal> total_gaps(const GapAnalysis& gaps) {
    std::map<std::tuple<GapCause, std::string, bool>, model::GapTotal> totals;
    for (const auto& frame : gaps.by_frame)
        for (const Gap& gap : frame) {
            model::GapTotal& total = totals[{gap.cause, gap.blocker, gap.between_frames}];
            total.cause = gap.cause;
            total.blocker = gap.blocker;
            total.between_frames = gap.between_frames;
            total.per_frame_ns += static_cast<double>(gap.interval.length_ns());
            total.count_per_frame += 1;
        }
    std::vector<model::GapTotal> list;
    for (auto& [key, total] : totals) {
        total.per_frame_ns /= static_cast<double>(gaps.by_frame.size());
        total.count_per_frame /= static_cast<double>(gaps.by_frame.size());
        list.push_back(total);
    }
    std::stable_sort(list.begin(), list.end(), [](const model::GapTotal& a, const model::GapTotal& b) {
        return a.per_frame_ns > b.per_frame_ns;
    });
    return list;
}

} // namespace deepjit::analyzers
