#include "analyzers/frame_summary.hpp"

#include "analyzers/statistics.hpp"

#include <algorithm>
#include <set>

namespace deepjit::analyzers {
namespace {

/// The spread of `by_frame` around the sum over a frame's places.
model::Range range_around(double typical, const std::vector<double>& by_frame) {
    const model::Range spread = spread_of(by_frame);
    return {std::min(spread.low, typical), typical, std::max(spread.high, typical)};
}

model::Range divided(const model::Range& range, double by) {
    return {range.low / by, range.typical / by, range.high / by};
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
                                     const LaunchExposure& exposure, const BusyTime& busy) {
    const std::size_t kernels = frames.kernels_per_frame();
    model::FrameSummary summary;
    summary.process_id = frames.track.process_id;
    summary.device_id = frames.track.device_id;
    summary.stream_id = frames.track.stream_id;
    summary.frames = static_cast<std::int64_t>(frames.frames.size());
    summary.kernels_per_frame = static_cast<std::int64_t>(kernels);
    summary.launches_per_frame = launch_calls_of(trace, frames.frames.front());
    summary.kernels_outside = frames.kernels_outside;
    summary.in_graph = std::all_of(frames.frames.front().kernels.begin(), frames.frames.front().kernels.end(),
                                   [&](std::size_t index) { return trace.kernels[index].graph_id != 0; });
    summary.calls_recorded = frames.calls_recorded || summary.in_graph;
    summary.corrected = trace.calibration.tracer_launch_ns.has_value();

    std::vector<double> frame_ns, span_ns, busy_ns, other_ns;
    for (std::size_t i = 0; i < frames.frames.size(); ++i) {
        const Frame& frame = frames.frames[i];
        span_ns.push_back(static_cast<double>(frame.span.length_ns()));
        busy_ns.push_back(static_cast<double>(busy.busy_within(frame.span)));
        if (!frame.next_start_ns) continue;
        frame_ns.push_back(static_cast<double>(*frame.next_start_ns - frame.span.start_ns));
        other_ns.push_back(std::max(0.0, frame_ns.back() - busy_ns.back() - exposure.frame_traced_ns[i]));
    }
    summary.span_ns = spread_of(span_ns);
    summary.frame_ns = frame_ns.empty() ? summary.span_ns : spread_of(frame_ns);
    summary.busy_ns = spread_of(busy_ns);
    summary.exposed_traced_ns = range_around(exposure.traced_within(0, kernels), exposure.frame_traced_ns);
    summary.exposed_ns = range_around(exposure.corrected_within(0, kernels), exposure.frame_corrected_ns);
    summary.launch_ns = divided(summary.exposed_traced_ns, static_cast<double>(kernels));
    summary.launch_corrected_ns = divided(summary.exposed_ns, static_cast<double>(kernels));
    summary.other_idle_ns = range_around(
        std::max(0.0, summary.frame_ns.typical - summary.busy_ns.typical - summary.exposed_traced_ns.typical),
        other_ns);
    // The gap before the frame's first kernel lies outside its span.
    const double within_ns = exposure.corrected_within(1, kernels - 1);
    const double corrected_span_ns =
        summary.span_ns.typical - (exposure.traced_within(1, kernels - 1) - within_ns);
    summary.exposed_share = corrected_span_ns > 0 ? within_ns / corrected_span_ns : 0;
    return summary;
}

} // namespace deepjit::analyzers
