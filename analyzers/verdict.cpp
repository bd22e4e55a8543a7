#include "analyzers/verdict.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deepjit::analyzers {
namespace {

using model::Advice;
using model::Range;
using model::Verdict;

double time_in_stream(const Stretch& stretch) {
    return stretch.work_ns + stretch.exposed_ns;
}

/// before − after, with each bound of the one against the opposite bound of the other.
Range difference(const Range& before, const Range& after) {
    return {before.low - after.high, before.typical - after.typical, before.high - after.low};
}

Range exactly(double value) {
    return {value, value, value};
}

Range shifted(const Range& range, double by) {
    return {range.low + by, range.typical + by, range.high + by};
}

/// What a graph whose nodes cost `node_ns` leaves of the gap before the stretch.
double first_gap_in_graph(const Stretch& stretch, double node_ns) {
    const bool node_before = !stretch.in_graph && !stretch.begins_frame;
    return node_before ? std::min(stretch.first_gap_ns, node_ns) : stretch.first_gap_ns;
}

bool graph_pays_after_fusing(const RestOfFrame& rest, const LaunchConstants& constants, double least_ns) {
    const double nodes_ns = constants.graph_node_ns / 2 * static_cast<double>(rest.launches);
    return rest.launches >= 1 && rest.exposed_ns - nodes_ns >= least_ns;
}

model::WaysToRun ways_to_run(double as_recorded_ns, const Verdict& verdict, bool capturable) {
    model::WaysToRun ways;
    ways.as_recorded_ns = as_recorded_ns;
    ways.fused_ns = as_recorded_ns - verdict.fuse_saving_ns.typical;
    if (!capturable) return ways;
    ways.in_graph_ns = as_recorded_ns - verdict.graph_saving_ns.typical;
    ways.fused_in_graph_ns = *ways.in_graph_ns - verdict.fuse_saving_after_graph_ns.typical;
    return ways;
}

std::string launches_expose(std::int64_t launches) {
    return launches == 1 ? "1 launch exposes" : fmt::format("{} launches expose", launches);
}

void withhold(Verdict& verdict, std::string deciding_term) {
    verdict.advice = Advice::Withheld;
    verdict.deciding_term = std::move(deciding_term);
    verdict.break_even_frames.reset();
}

/// Launches in a graph need no call each: their gaps are the device's.
void withhold_without_calls(Verdict& verdict, const Stretch& stretch) {
    if (stretch.calls_recorded || stretch.in_graph) return;
    withhold(verdict, "the trace holds no launch calls, so what the device waits for is unknown");
}

/// Replaces an advice that the tracer's own cost could have made up.
void withhold_if_within_tracer_cost(Verdict& verdict, double saving_ns, const Stretch& stretch,
                                    const LaunchConstants& constants) {
    if (verdict.advice == Advice::LeaveAlone || !constants.tracer_launch_ns || stretch.in_graph) return;
    const double tracer_ns = *constants.tracer_launch_ns * static_cast<double>(stretch.launches);
    if (saving_ns >= tracer_ns) return;
    withhold(verdict, fmt::format("the saving of {} is smaller than what tracing cost these launches ({})",
                                  format_duration(saving_ns), format_duration(tracer_ns)));
}

} // namespace

Range time_in_graph(const Stretch& stretch, const LaunchConstants& constants) {
    if (stretch.in_graph) return exactly(time_in_stream(stretch));
    const double stream_ns = time_in_stream(stretch);
    const auto between = static_cast<double>(stretch.launches - 1);
    const auto with_nodes_of = [&](double node_ns) {
        return std::min(stream_ns,
                        stretch.work_ns + first_gap_in_graph(stretch, node_ns) + between * node_ns);
    };
    return {with_nodes_of(0), with_nodes_of(constants.graph_node_ns / 2),
            with_nodes_of(constants.graph_node_ns)};
}

Range fused_work(const Stretch& stretch, const FusedWork& steps) {
    const double by_bytes =
        steps.inflation ? stretch.work_ns / *steps.inflation : (steps.longest_step_ns + stretch.work_ns) / 2;
    return {std::min(steps.longest_step_ns, by_bytes),
            std::clamp(by_bytes, std::min(steps.longest_step_ns, stretch.work_ns), stretch.work_ns),
            stretch.work_ns};
}

Verdict judge_chain(const Stretch& chain, const FusedWork& steps, const RestOfFrame& rest,
                    const LaunchConstants& constants, const AdviseOptions& options) {
    Verdict verdict;
    verdict.graph_blocker = chain.in_graph ? "" : chain.graph_blocker;
    const Range stream = exactly(time_in_stream(chain));
    const Range graph = time_in_graph(chain, constants);
    const Range work = fused_work(chain, steps);
    verdict.graph_saving_ns = chain.in_graph ? Range{} : difference(stream, graph);
    verdict.fuse_saving_ns = difference(stream, shifted(work, chain.first_gap_ns));
    // After a graph both sides have its node costs, so that the two ranges move together.
    const double gap_left_ns = first_gap_in_graph(chain, constants.graph_node_ns / 2);
    verdict.fuse_saving_after_graph_ns = chain.in_graph
                                             ? verdict.fuse_saving_ns
                                             : difference(exactly(graph.typical), shifted(work, gap_left_ns));

    const double least_ns = options.worthwhile_share * chain.frame_ns;
    const bool capturable = !chain.in_graph && chain.graph_blocker.empty();
    verdict.ways = ways_to_run(time_in_stream(chain), verdict, capturable);
    const Range& fuse_gain = capturable ? verdict.fuse_saving_after_graph_ns : verdict.fuse_saving_ns;
    double saving_ns = 0;
    if (fuse_gain.typical >= least_ns && fuse_gain.typical > 0) {
        saving_ns = verdict.fuse_saving_ns.typical;
        verdict.advice = capturable && graph_pays_after_fusing(rest, constants, least_ns)
                             ? Advice::FuseThenGraph
                             : Advice::Fuse;
        verdict.deciding_term =
            capturable ? fmt::format("one kernel instead of {} saves {} more than a CUDA Graph would",
                                     chain.launches, format_duration(fuse_gain.typical))
                       : fmt::format("one kernel instead of {} saves {}{}", chain.launches,
                                     format_duration(fuse_gain.typical),
                                     chain.in_graph ? " although the launches are in a graph already" : "");
        verdict.break_even_frames = options.fuse_cost_ns / saving_ns;
    } else if (capturable && verdict.graph_saving_ns.typical >= least_ns &&
               verdict.graph_saving_ns.typical > 0) {
        saving_ns = verdict.graph_saving_ns.typical;
        verdict.advice = Advice::CudaGraph;
        verdict.deciding_term =
            fmt::format("K\u00b7L: {} launches expose {}, and fusing would add only {}", chain.launches,
                        format_duration(chain.exposed_ns), format_duration(std::max(0.0, fuse_gain.typical)));
    } else {
        const double best = std::max(verdict.fuse_saving_ns.typical, verdict.graph_saving_ns.typical);
        verdict.deciding_term =
            fmt::format("the largest saving, {}, is below {} of the frame",
                        format_duration(std::max(0.0, best)), format_share(options.worthwhile_share));
    }
    withhold_if_within_tracer_cost(verdict, saving_ns, chain, constants);
    withhold_without_calls(verdict, chain);
    return verdict;
}

Verdict judge_frame(const Stretch& frame, const std::vector<model::ChainAdvice>& chains,
                    const LaunchConstants& constants, const AdviseOptions& options) {
    Verdict verdict;
    verdict.graph_blocker = frame.in_graph ? "" : frame.graph_blocker;
    verdict.graph_saving_ns =
        frame.in_graph ? Range{}
                       : difference(exactly(time_in_stream(frame)), time_in_graph(frame, constants));
    int fused_chains = 0;
    RestOfFrame rest{frame.launches, frame.exposed_ns}; // beside the fused chains
    for (const model::ChainAdvice& chain : chains) {
        const Verdict& own = chain.verdict;
        if (own.advice != Advice::Fuse && own.advice != Advice::FuseThenGraph) continue;
        ++fused_chains;
        rest.launches -= static_cast<std::int64_t>(chain.chain.steps.size());
        rest.exposed_ns -= chain.exposed_ns;
        const auto add = [](Range& sum, const Range& part) {
            sum = {sum.low + part.low, sum.typical + part.typical, sum.high + part.high};
        };
        add(verdict.fuse_saving_ns, own.fuse_saving_ns);
        add(verdict.fuse_saving_after_graph_ns, own.fuse_saving_after_graph_ns);
    }
    const double least_ns = options.worthwhile_share * frame.frame_ns;
    const bool capturable = !frame.in_graph && frame.graph_blocker.empty();
    verdict.ways = ways_to_run(frame.frame_ns, verdict, capturable);
    const bool graph_pays =
        verdict.graph_saving_ns.typical >= least_ns && verdict.graph_saving_ns.typical > 0;
    double saving_ns = 0;
    if (fused_chains > 0) {
        const bool then_graph = capturable && graph_pays_after_fusing(rest, constants, least_ns);
        saving_ns = verdict.fuse_saving_ns.typical;
        verdict.advice = then_graph ? Advice::FuseThenGraph : Advice::Fuse;
        verdict.break_even_frames = options.fuse_cost_ns * fused_chains / saving_ns;
        verdict.deciding_term = fmt::format("fusing {} chain{} saves {} of {} a frame", fused_chains,
                                            fused_chains == 1 ? "" : "s", format_duration(saving_ns),
                                            format_duration(frame.frame_ns));
    } else if (graph_pays && capturable) {
        saving_ns = verdict.graph_saving_ns.typical;
        verdict.advice = Advice::CudaGraph;
        verdict.deciding_term =
            fmt::format("K\u00b7L: {} {} of {} a frame", launches_expose(frame.launches),
                        format_duration(frame.exposed_ns), format_duration(frame.frame_ns));
    } else if (graph_pays) {
        verdict.deciding_term =
            fmt::format("a CUDA Graph would save {}, but {} keeps it from holding the frame",
                        format_duration(verdict.graph_saving_ns.typical), frame.graph_blocker);
    } else {
        verdict.deciding_term = fmt::format("no change is estimated to save {} of the frame",
                                            format_share(options.worthwhile_share));
    }
    withhold_if_within_tracer_cost(verdict, saving_ns, frame, constants);
    withhold_without_calls(verdict, frame);
    return verdict;
}

} // namespace deepjit::analyzers
