#include "analyzers/frame_summary.hpp"

#include "analyzers/statistics.hpp"

#include <algorithm>
#include <set>

namespace deepjit::analyzers {
namespace {

/// Sums over the gaps of one frame.
struct ExposedTime {
    double raw_ns = 0;
    double corrected_ns = 0;
    double within_raw_ns = 0; ///< without the gap before the next frame
    double within_corrected_ns = 0;
    std::int64_t hidden_launches = 0; ///< launches whose gap is no launch gap
};

ExposedTime exposed_time(const std::vector<Gap>& gaps, bool next_follows) {
    ExposedTime time;
    bool saw_boundary = false;
    for (const Gap& gap : gaps) {
        saw_boundary |= gap.between_frames;
        if (!gap.is_exposed()) {
            time.hidden_launches += gap.before_copy ? 0 : 1;
            continue;
        }
        const auto raw_ns = static_cast<double>(gap.interval.length_ns());
        time.raw_ns += raw_ns;
        time.corrected_ns += gap.corrected_ns;
        if (gap.between_frames) continue;
        time.within_raw_ns += raw_ns;
        time.within_corrected_ns += gap.corrected_ns;
    }
    // After the last frame of a row nothing tells what its boundary launch cost.
    if (!saw_boundary && !next_follows) ++time.hidden_launches;
    return time;
}

std::int64_t launch_calls_of(const model::TraceData& trace, const Frame& frame) {
    std::set<std::uint32_t> graph_launches;
    std::int64_t calls = 0;
    for (const std::size_t index : frame.kernels) {
        const trace::Kernel& kernel = trace.kernels[index];
        if (kernel.graph_id == 0 || graph_launches.insert(kernel.correlation_id).second) ++calls;
    }
    return calls;
}

} // namespace

model::FrameSummary summarise_frames(const model::TraceData& trace, const TrackFrames& frames,
                                     const GapAnalysis& gaps, const BusyTime& busy) {
    model::FrameSummary summary;
    summary.process_id = frames.track.process_id;
    summary.device_id = frames.track.device_id;
    summary.stream_id = frames.track.stream_id;
    summary.frames = static_cast<std::int64_t>(frames.frames.size());
    summary.kernels_per_frame = static_cast<std::int64_t>(frames.kernels_per_frame());
    summary.launches_per_frame = launch_calls_of(trace, frames.frames.front());
    summary.kernels_outside = frames.kernels_outside;
    summary.in_graph = std::all_of(frames.frames.front().kernels.begin(), frames.frames.front().kernels.end(),
                                   [&](std::size_t index) { return trace.kernels[index].graph_id != 0; });
    summary.corrected = trace.calibration.tracer_launch_ns.has_value();

    std::vector<double> frame_ns, span_ns, busy_ns, launch_ns, corrected_ns, other_ns, shares;
    for (std::size_t i = 0; i < frames.frames.size(); ++i) {
        const Frame& frame = frames.frames[i];
        const ExposedTime exposed = exposed_time(gaps.by_frame[i], frame.next_start_ns.has_value());
        const std::int64_t seen =
            std::max<std::int64_t>(1, summary.kernels_per_frame - exposed.hidden_launches);
        const auto span = static_cast<double>(frame.span.length_ns());
        span_ns.push_back(span);
        busy_ns.push_back(static_cast<double>(busy.busy_within(frame.span)));
        launch_ns.push_back(exposed.raw_ns / static_cast<double>(seen));
        corrected_ns.push_back(exposed.corrected_ns / static_cast<double>(seen));
        const double corrected_span = span - (exposed.within_raw_ns - exposed.within_corrected_ns);
        shares.push_back(corrected_span > 0 ? exposed.within_corrected_ns / corrected_span : 0);
        if (!frame.next_start_ns) continue;
        frame_ns.push_back(static_cast<double>(*frame.next_start_ns - frame.span.start_ns));
        other_ns.push_back(
            std::max(0.0, frame_ns.back() - busy_ns.back() -
                              launch_ns.back() * static_cast<double>(summary.kernels_per_frame)));
    }
    summary.span_ns = spread_of(span_ns);
    summary.frame_ns = frame_ns.empty() ? summary.span_ns : spread_of(frame_ns);
    summary.busy_ns = spread_of(busy_ns);
    summary.launch_ns = spread_of(launch_ns);
    summary.launch_corrected_ns = spread_of(corrected_ns);
    summary.other_idle_ns = spread_of(other_ns);
    summary.exposed_share = median(shares);
    return summary;
}

} // namespace deepjit::analyzers
