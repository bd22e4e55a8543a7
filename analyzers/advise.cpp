#include "analyzers/advise.hpp"

#include "analyzers/accesses.hpp"
#include "analyzers/chains.hpp"
#include "analyzers/escapes.hpp"
#include "analyzers/frame_summary.hpp"
#include "analyzers/graph_blockers.hpp"
#include "analyzers/no_kernels.hpp"
#include "analyzers/registry.hpp"
#include "analyzers/statistics.hpp"
#include "analyzers/traffic.hpp"
#include "analyzers/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deepjit::analyzers {
namespace {

/// Frames of one track with all that rests on them.
struct AnalysedTrack {
    TrackFrames frames;
    GapAnalysis gaps;
    LaunchExposure exposure;
    model::FrameSummary summary;
    LaunchConstants constants;
};

LaunchConstants constants_for(const model::TraceData& trace, const GapAnalysis& gaps) {
    LaunchConstants constants;
    constants.tracer_launch_ns = trace.calibration.tracer_launch_ns;
    if (trace.calibration.graph_node_ns) {
        constants.graph_node_ns = *trace.calibration.graph_node_ns;
        constants.graph_node_origin = model::Origin::Calibrated;
        return constants;
    }
    // The shortest gaps of a stream are what the device needs with a launch at hand; a node needs no more.
    std::vector<double> exposed;
    for (const auto& frame : gaps.by_frame)
        for (const Gap& gap : frame)
            if (gap.is_exposed()) exposed.push_back(gap.corrected_ns);
    if (exposed.empty()) return constants;
    constants.graph_node_ns = percentile(std::move(exposed), 0.1);
    constants.graph_node_origin = model::Origin::Derived;
    return constants;
}

AnalysedTrack analyse(const model::TraceData& trace, TrackFrames frames, const AdviseOptions& options) {
    AnalysedTrack track;
    const BusyTime busy(trace, frames.track.device_id);
    track.gaps = find_gaps(trace, frames, busy, options);
    track.exposure = launch_exposure(frames, track.gaps);
    track.summary = summarise_frames(trace, frames, track.exposure, busy);
    track.constants = constants_for(trace, track.gaps);
    track.frames = std::move(frames);
    return track;
}

/// Frames of a track; where every launch looks the same, the arguments tell them apart.
TrackFrames frames_of(const model::TraceData& trace, const Track& track, const AdviseOptions& options) {
    TrackFrames frames = find_frames(trace, track, options);
    const bool one_launch = frames.items_per_frame == 1 && frames.kernels_per_frame() == 1;
    if (!one_launch) return frames;
    for (const Track& detailed : find_tracks(trace, true)) {
        if (detailed.process_id != track.process_id || detailed.device_id != track.device_id ||
            detailed.stream_id != track.stream_id)
            continue;
        TrackFrames by_arguments = find_frames(trace, detailed, options);
        if (by_arguments.kernels_per_frame() > 1) return by_arguments;
    }
    return frames;
}

double busy_within(const model::TraceData& trace, const AnalysedTrack& track, std::size_t first,
                   std::size_t count, double share) {
    std::vector<double> sums;
    for (const Frame& frame : track.frames.frames) {
        double sum = 0;
        for (std::size_t i = first; i < first + count; ++i)
            sum += static_cast<double>(trace.kernels[frame.kernels[i]].duration_ns());
        sums.push_back(sum);
    }
    return percentile(std::move(sums), share);
}

/// Time of a whole frame without the tracer's cost.
double corrected_frame_ns(const model::FrameSummary& summary) {
    const double tracer_ns =
        summary.exposed_traced_ns.typical - summary.exposed_ns.typical + summary.tracer_graph_ns;
    return std::max(summary.busy_ns.typical, summary.frame_ns.typical - tracer_ns);
}

model::ChainAdvice judge(const model::TraceData& trace, const AnalysedTrack& track, FoundChain found,
                         const AdviseOptions& options) {
    model::ChainAdvice advice;
    const std::size_t count = found.chain.steps.size();
    advice.busy_ns = {busy_within(trace, track, found.first_position, count, 0.1),
                      busy_within(trace, track, found.first_position, count, 0.5),
                      busy_within(trace, track, found.first_position, count, 0.9)};
    advice.exposed_ns = track.exposure.corrected_within(found.first_position, count);
    advice.stream_ns = {advice.busy_ns.low + advice.exposed_ns, advice.busy_ns.typical + advice.exposed_ns,
                        advice.busy_ns.high + advice.exposed_ns};
    Result<model::LogicalTraffic> traffic = logical_traffic(found.chain);
    if (traffic)
        advice.traffic = *traffic;
    else
        advice.traffic_unknown = traffic.error().message;

    Stretch stretch;
    stretch.launches = static_cast<std::int64_t>(count);
    stretch.work_ns = advice.busy_ns.typical;
    stretch.exposed_ns = advice.exposed_ns;
    stretch.first_gap_ns = track.exposure.corrected_ns[found.first_position];
    stretch.begins_frame = found.first_position == 0;
    stretch.calls_recorded = track.frames.calls_recorded;
    stretch.in_graph = found.chain.in_graph;
    stretch.graph_blocker = graph_blocker(trace, track.frames, found.first_position, count);
    stretch.frame_ns = corrected_frame_ns(track.summary);
    FusedWork work;
    for (const model::ChainStep& step : found.chain.steps)
        work.longest_step_ns = std::max(work.longest_step_ns, step.busy_ns);
    if (advice.traffic && advice.traffic->compulsory_bytes > 0) work.inflation = advice.traffic->inflation();
    RestOfFrame rest;
    rest.launches = track.summary.kernels_per_frame - stretch.launches;
    rest.exposed_ns = std::max(0.0, track.summary.exposed_ns.typical - advice.exposed_ns);
    advice.verdict = judge_chain(stretch, work, rest, track.constants, options);
    advice.chain = std::move(found.chain);
    return advice;
}

model::Verdict judge_whole_frame(const model::TraceData& trace, const AnalysedTrack& track,
                                 const std::vector<model::ChainAdvice>& chains,
                                 const AdviseOptions& options) {
    Stretch stretch;
    stretch.launches = track.summary.kernels_per_frame;
    stretch.work_ns = track.summary.busy_ns.typical;
    stretch.exposed_ns = track.summary.exposed_ns.typical;
    stretch.first_gap_ns = track.exposure.corrected_ns.front();
    stretch.begins_frame = true;
    stretch.calls_recorded = track.frames.calls_recorded;
    stretch.in_graph = track.summary.in_graph;
    stretch.graph_blocker = graph_blocker(trace, track.frames, 0, track.frames.kernels_per_frame());
    stretch.frame_ns = corrected_frame_ns(track.summary);
    std::vector<model::ChainAdvice> own;
    for (const model::ChainAdvice& chain : chains)
        if (chain.chain.stream_id == track.summary.stream_id &&
            chain.chain.device_id == track.summary.device_id)
            own.push_back(chain);
    return judge_frame(stretch, own, track.constants, options);
}

/// Numbers by place (tracks by their work, in each by position), which do not change with options that only
/// weigh; the order of the list is that of the savings.
void number_and_sort(std::vector<model::ChainAdvice>& chains) {
    for (std::size_t i = 0; i < chains.size(); ++i)
        chains[i].chain.number = static_cast<int>(i) + 1;
    const auto saving = [](const model::ChainAdvice& chain) {
        return std::max(chain.verdict.fuse_saving_ns.typical, chain.verdict.graph_saving_ns.typical);
    };
    std::stable_sort(chains.begin(), chains.end(),
                     [&](const auto& a, const auto& b) { return saving(a) > saving(b); });
}

std::vector<model::Parameter> parameters_of(const AdviseOptions& options,
                                            const model::Calibration& calibration,
                                            const AnalysedTrack* track) {
    using model::Origin;
    std::vector<model::Parameter> parameters = {
        {"short_kernel_ns", options.short_kernel_ns, Origin::Assumed},
        {"short_launch_share", options.short_launch_share, Origin::Assumed},
        {"short_time_share", options.short_time_share, Origin::Assumed},
        {"exposed_gap_share", options.exposed_gap_share, Origin::Assumed},
        {"logical_inflation", options.inflation, Origin::Assumed},
        {"worthwhile_share", options.worthwhile_share, Origin::Assumed},
        {"host_work_ns", options.host_work_ns, Origin::Assumed},
        {"fuse_cost_ns", options.fuse_cost_ns, Origin::Assumed},
    };
    if (track != nullptr)
        parameters.push_back(
            {"graph_node_ns", track->constants.graph_node_ns, track->constants.graph_node_origin});
    const auto add = [&](const char* name, const std::optional<double>& value) {
        if (value) parameters.push_back({name, *value, Origin::Calibrated});
    };
    add("stream_launch_ns", calibration.stream_launch_ns);
    add("graph_intercept_ns", calibration.graph_intercept_ns);
    add("tracer_launch_ns", calibration.tracer_launch_ns);
    add("tracer_graph_ns", calibration.tracer_graph_ns);
    add("tracer_graph_node_ns", calibration.tracer_graph_node_ns);
    return parameters;
}

std::string device_name_of(const model::TraceData& trace, std::uint32_t device_id) {
    for (const trace::Device& device : trace.devices)
        if (device.device_id == device_id) return device.name;
    return {};
}

} // namespace

model::Report advise(const model::TraceData& trace, const AdviseOptions& options) {
    model::Report report;
    report.source = trace.source;
    report.kernel_count = static_cast<std::int64_t>(trace.kernels.size());
    // Kernels around a graph whose own are unknown would look like a chain that passes through it.
    if (trace.kernels.empty() || !trace.graph_launches.empty()) {
        report.no_kernels = why_no_kernels(trace);
        const bool graph_level = !trace.graph_launches.empty();
        report.no_frame_reason = graph_level ? "The trace holds graph launches without their kernels."
                                             : "The trace holds no kernel.";
        report.verdict.advice = model::Advice::Withheld;
        report.verdict.deciding_term =
            graph_level ? "the kernels in graphs were not recorded" : "the trace holds no kernel";
        report.parameters = parameters_of(options, trace.calibration, nullptr);
        return report;
    }
    const Accesses accesses(trace);
    const DeviceHistory history(trace);
    std::optional<AnalysedTrack> main;
    for (const Track& track : find_tracks(trace)) {
        TrackFrames frames = frames_of(trace, track, options);
        if (frames.frames.empty()) {
            if (report.no_frame_reason.empty()) report.no_frame_reason = frames.no_period_reason;
            continue;
        }
        AnalysedTrack analysed = analyse(trace, std::move(frames), options);
        for (FoundChain& found : find_chains(trace, analysed.frames, accesses, options)) {
            find_escapes(found.chain, trace, history, accesses, options);
            report.chains.push_back(judge(trace, analysed, std::move(found), options));
        }
        if (!main) main = std::move(analysed);
    }
    number_and_sort(report.chains);
    report.device_name =
        device_name_of(trace, main ? main->summary.device_id : trace.kernels.front().device_id);
    if (main) {
        report.no_frame_reason.clear();
        report.frame = main->summary;
        report.gaps = total_gaps(main->gaps);
        report.verdict = judge_whole_frame(trace, *main, report.chains, options);
    } else {
        report.verdict.advice = model::Advice::Withheld;
        report.verdict.deciding_term = "no frame was found, so no time can be put beside another";
    }
    const Evidence evidence{trace,
                            options,
                            main ? &main->frames : nullptr,
                            main ? &main->gaps : nullptr,
                            main ? &main->summary : nullptr,
                            report.chains};
    for (const Analyzer& analyzer : all_analyzers())
        for (model::Finding& finding : analyzer.run(evidence))
            report.findings.push_back(std::move(finding));
    report.parameters = parameters_of(options, trace.calibration, main ? &*main : nullptr);
    return report;
}

} // namespace deepjit::analyzers
