#include "analyzers/frame_summary.hpp"

#include "analyzers/statistics.hpp"

#include <algorithm>
#include <optional>
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

/// What a frame launches.
struct FrameLaunches {
    std::int64_t kernels = 0; ///< each by a call of its own
    std::int64_t graphs = 0;
    std::int64_t graph_nodes = 0; ///< kernels in them
};

FrameLaunches launches_of(const model::TraceData& trace, const Frame& frame) {
    std::set<std::uint32_t> graph_launches;
    FrameLaunches launches;
    for (const std::size_t index : frame.kernels) {
        const trace::Kernel& kernel = trace.kernels[index];
        if (kernel.graph_id == 0) {
            ++launches.kernels;
        } else {
            ++launches.graph_nodes;
            graph_launches.insert(kernel.correlation_id);
        }
    }
    launches.graphs = static_cast<std::int64_t>(graph_launches.size());
    return launches;
}

/// What tracing adds to a frame's graph launches; nothing where that was not calibrated.
std::optional<double> tracer_graph_ns(const FrameLaunches& launches, const model::Calibration& calibration) {
    if (!calibration.tracer_graph_ns || !calibration.tracer_graph_node_ns) return std::nullopt;
    return static_cast<double>(launches.graphs) * *calibration.tracer_graph_ns +
           static_cast<double>(launches.graph_nodes) * *calibration.tracer_graph_node_ns;
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
    const FrameLaunches launches = launches_of(trace, frames.frames.front());
    summary.launches_per_frame = launches.kernels + launches.graphs;
    summary.kernels_outside = frames.kernels_outside;
    summary.in_graph = launches.kernels == 0;
    summary.calls_recorded = frames.calls_recorded || summary.in_graph;
    const std::optional<double> in_graphs_ns = tracer_graph_ns(launches, trace.calibration);
    summary.tracer_graph_ns = in_graphs_ns.value_or(0);
    const bool launches_known = launches.kernels == 0 || trace.calibration.tracer_launch_ns.has_value();
    const bool graphs_known = launches.graphs == 0 || in_graphs_ns.has_value();
    summary.corrected = launches_known && graphs_known;
    summary.launch_corrected = launches.kernels > 0 && launches_known;

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
