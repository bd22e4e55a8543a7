#include "reports/launch_summary.hpp"

#include "reports/wrapped_lines.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace deepjit::reports {
namespace {

using model::LaunchSummary;

std::string estimate_text(const LaunchSummary& summary) {
    const model::LaunchEstimate& estimate = *summary.estimate;
    const model::LaunchQuestion& question = summary.question;
    const double serial_ns = *question.serial_ns;
    std::string text =
        fmt::format("L = {:<10} exposed cost of one launch (upper bound)\n"
                    "T = {:<10} work on the GPU{}\n"
                    "K·L = {:<8} {} of the serial time {}\n",
                    format_duration(estimate.launch_ns), format_duration(estimate.work_ns),
                    estimate.work_counted_as_zero ? ", below zero within the noise and counted as zero" : "",
                    format_duration(estimate.launch_total_ns), format_share(estimate.launch_share),
                    format_duration(serial_ns));
    text += estimate.work_counted_as_zero
                ? fmt::format("With T = 0 fused is L = {}: {} was measured, which the noise of {} allows.\n",
                              format_duration(estimate.launch_ns), format_duration(*question.fused_ns),
                              format_duration(question.noise_ns))
                : fmt::format("Fusing leaves {} of {} as launch.\n",
                              format_share(estimate.fused_launch_share), format_duration(*question.fused_ns));
    text +=
        "Assumed: fusing leaves T as it is, so serial = K·L + T and fused = L + T.\n"
        "L is an upper bound: a fused kernel also moves fewer bytes, and that gain is counted as launches "
        "here.\n";
    return text;
}

std::string graph_text(const LaunchSummary& summary) {
    const model::GraphDifference& graph = *summary.graph;
    const bool slower = graph.saved_ns < 0;
    return fmt::format("graph: {} {}, {} of the serial time, {:.2f} times as fast\n"
                       "       {} a launch in the stream, {} a graph node, with its work:\n"
                       "       a launch costs {} {} than a graph node\n",
                       format_duration(std::abs(graph.saved_ns)), slower ? "slower" : "saved",
                       format_share(std::abs(graph.saved_share)), graph.speedup,
                       format_duration(graph.serial_per_call_ns), format_duration(graph.graph_per_node_ns),
                       format_duration(std::abs(graph.per_node_ns)), slower ? "less" : "more");
}

std::string known_text(const LaunchSummary& summary) {
    const model::KnownLaunchCost& known = *summary.known;
    return fmt::format("K·L = {}, {} of the serial time; T = {}\n"
                       "estimated: fusing all into one launch could leave {}\n",
                       format_duration(known.launch_total_ns), format_share(known.launch_share),
                       format_duration(known.work_ns), format_duration(known.fused_ns));
}

std::string fit_text(const LaunchSummary& summary) {
    const model::LaunchFit& fit = *summary.fit;
    std::string text = fmt::format("fit: total = {} + {} · K (repeated medians, spread {})\n"
                                   "     with no fixed term: {} a launch (median of total ÷ K)\n",
                                   format_duration(fit.intercept_ns), format_duration(fit.slope_ns),
                                   format_duration(fit.spread_ns), format_duration(fit.through_origin_ns));
    if (!fit.judges_outliers)
        text += fmt::format("     outliers are judged from {} points on\n", model::kPointsToJudgeOutliers);
    for (const std::size_t outlier : fit.outliers) {
        const model::LaunchPoint& point = summary.question.points[outlier];
        text += fmt::format("     outlier: K = {:g}, {} measured, {} off the line\n", point.calls,
                            format_duration(point.total_ns), format_duration(fit.residuals_ns[outlier]));
    }
    return text;
}

std::string frame_text(std::string_view what, const LaunchSummary& summary, const model::FrameGain& gain) {
    return fmt::format("frame, {}: {} to {}, {:.1f} % {}, {:.2f} times as fast\n", what,
                       format_duration(*summary.question.frame_ns), format_duration(gain.frame_ns),
                       std::abs(gain.saved_share) * 100, gain.saved_ns < 0 ? "slower" : "saved",
                       gain.speedup);
}

nlohmann::ordered_json frame_json(const model::FrameGain& gain) {
    return {{"frame_ns", gain.frame_ns},
            {"saved_ns", gain.saved_ns},
            {"saved_share", gain.saved_share},
            {"speedup", gain.speedup}};
}

/// Each line wrapped; what follows begins two columns further in.
std::string wrapped(std::string_view text, std::size_t width) {
    WrappedLines lines(width);
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        lines.add(line, line.find_first_not_of(' ') + 2);
        text.remove_prefix(end + 1);
    }
    return lines.text();
}

} // namespace

std::string launch_summary_text(const LaunchSummary& summary, std::size_t width) {
    std::string text;
    if (summary.estimate) text += estimate_text(summary);
    if (summary.known) text += known_text(summary);
    if (summary.graph) text += graph_text(summary);
    if (summary.fit) text += fit_text(summary);
    if (summary.frame_graph) text += frame_text("in a graph", summary, *summary.frame_graph);
    if (summary.frame_fused) text += frame_text("fused", summary, *summary.frame_fused);
    if (summary.frame_known) text += frame_text("fused (estimated)", summary, *summary.frame_known);
    if (summary.leave_alone.value_or(false))
        text += fmt::format("Advice: leave alone. Less than {} of the time can be won.\n",
                            format_share(model::kLeaveAloneShare));
    return wrapped(text, width);
}

std::string launch_summary_json(const LaunchSummary& summary) {
    nlohmann::ordered_json json = {{"schema_version", kLaunchSummarySchemaVersion}};
    if (summary.question.calls > 0) json["calls"] = summary.question.calls;
    if (summary.estimate) {
        const model::LaunchEstimate& estimate = *summary.estimate;
        json["l_ns"] = estimate.launch_ns;
        json["l_is_upper_bound"] = true;
        json["launch_total_ns"] = estimate.launch_total_ns;
        json["t_ns"] = estimate.work_ns;
        json["t_counted_as_zero"] = estimate.work_counted_as_zero;
        json["launch_share"] = estimate.launch_share;
        json["fused_launch_share"] = estimate.fused_launch_share;
        json["assumption"] = "fusing leaves T as it is: serial = K*L + T, fused = L + T";
    }
    if (summary.known) {
        const model::KnownLaunchCost& known = *summary.known;
        json["launch_cost"] = {{"l_ns", known.launch_ns},
                               {"launch_total_ns", known.launch_total_ns},
                               {"launch_share", known.launch_share},
                               {"t_ns", known.work_ns},
                               {"fused_estimate_ns", known.fused_ns}};
    }
    if (summary.graph) {
        const model::GraphDifference& graph = *summary.graph;
        json["graph"] = {{"saved_ns", graph.saved_ns},
                         {"saved_share", graph.saved_share},
                         {"speedup", graph.speedup},
                         {"per_node_difference_ns", graph.per_node_ns},
                         {"serial_per_call_ns", graph.serial_per_call_ns},
                         {"graph_per_node_ns", graph.graph_per_node_ns}};
    }
    if (summary.fit) {
        const model::LaunchFit& fit = *summary.fit;
        nlohmann::ordered_json outliers = nullptr;
        if (fit.judges_outliers) outliers = nlohmann::ordered_json::array();
        for (const std::size_t outlier : fit.outliers)
            outliers.push_back({{"calls", summary.question.points[outlier].calls},
                                {"total_ns", summary.question.points[outlier].total_ns},
                                {"residual_ns", fit.residuals_ns[outlier]}});
        json["fit"] = {{"l_ns", fit.slope_ns},
                       {"intercept_ns", fit.intercept_ns},
                       {"l_without_intercept_ns", fit.through_origin_ns},
                       {"spread_ns", fit.spread_ns},
                       {"outliers", outliers}};
    }
    if (summary.frame_graph) json["frame_graph"] = frame_json(*summary.frame_graph);
    if (summary.frame_fused) json["frame_fused"] = frame_json(*summary.frame_fused);
    if (summary.frame_known) json["frame_fused_estimate"] = frame_json(*summary.frame_known);
    json["leave_alone"] = summary.leave_alone ? nlohmann::ordered_json(*summary.leave_alone) : nullptr;
    return json.dump(2) + "\n";
}

} // namespace deepjit::reports
