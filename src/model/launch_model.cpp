#include "src/model/launch_model.hpp"

#include "src/base/statistics.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace deepjit::model {
namespace {

constexpr double kOutlierSpreads = 2.5; // in standard deviations of normal errors
constexpr double kNormalMedianDeviation = 1.4826;

Result<void> require_calls(std::int64_t calls) {
    if (calls >= 2) return {};
    return usage_error(fmt::format("K cannot be {}: the model compares one launch with at least two", calls),
                       {}, "give the number of launches of the unfused program with --calls");
}

Result<void> require_positive(double nanoseconds, std::string_view what) {
    if (nanoseconds > 0) return {};
    return usage_error(fmt::format("the {} time cannot be {}", what, format_duration(nanoseconds)));
}

} // namespace

Result<LaunchEstimate> solve_launch_model(const LaunchTotals& totals) {
    DEEPJIT_CHECK(require_calls(totals.calls));
    DEEPJIT_CHECK(require_positive(totals.serial_ns, "serial"));
    DEEPJIT_CHECK(require_positive(totals.fused_ns, "fused"));
    const auto calls = static_cast<double>(totals.calls);
    const double saved_ns = totals.serial_ns - totals.fused_ns;
    if (saved_ns < -totals.noise_ns)
        return usage_error(
            fmt::format("L cannot be {}: the fused time is longer than the serial time",
                        format_duration(saved_ns / (calls - 1))),
            fmt::format("serial {}, fused {}", format_duration(totals.serial_ns),
                        format_duration(totals.fused_ns)),
            "a fused kernel that is slower is no fusion to keep; swapped numbers look the same");
    LaunchEstimate estimate;
    estimate.launch_ns = std::max(0.0, saved_ns) / (calls - 1);
    estimate.work_ns = totals.fused_ns - estimate.launch_ns;
    if (estimate.work_ns < -totals.noise_ns)
        return usage_error(
            fmt::format("T cannot be {}: the fused time is shorter than one launch",
                        format_duration(estimate.work_ns)),
            fmt::format("L = ({} - {})/({} - 1) = {}, so K·L = {} is more than the serial time {}",
                        format_duration(totals.serial_ns), format_duration(totals.fused_ns), totals.calls,
                        format_duration(estimate.launch_ns), format_duration(calls * estimate.launch_ns),
                        format_duration(totals.serial_ns)),
            "check the number of calls, or give the measuring error with --noise");
    estimate.work_counted_as_zero = estimate.work_ns < 0;
    if (estimate.work_counted_as_zero) {
        estimate.work_ns = 0;
        estimate.launch_ns = totals.serial_ns / calls;
    }
    if (saved_ns < 0) estimate.work_ns = totals.serial_ns;
    estimate.launch_total_ns = estimate.work_counted_as_zero ? totals.serial_ns : calls * estimate.launch_ns;
    estimate.launch_share = estimate.launch_total_ns / totals.serial_ns;
    estimate.fused_launch_share = std::min(1.0, estimate.launch_ns / totals.fused_ns);
    return estimate;
}

Result<GraphDifference> compare_with_graph(double serial_ns, double graph_ns, std::int64_t calls) {
    if (calls < 1) return usage_error(fmt::format("K cannot be {}", calls));
    DEEPJIT_CHECK(require_positive(serial_ns, "serial"));
    DEEPJIT_CHECK(require_positive(graph_ns, "graph"));
    const auto count = static_cast<double>(calls);
    GraphDifference difference;
    difference.saved_ns = serial_ns - graph_ns;
    difference.saved_share = difference.saved_ns / serial_ns;
    difference.speedup = serial_ns / graph_ns;
    difference.per_node_ns = difference.saved_ns / count;
    difference.serial_per_call_ns = serial_ns / count;
    difference.graph_per_node_ns = graph_ns / count;
    return difference;
}

Result<KnownLaunchCost> apply_launch_cost(double serial_ns, double launch_ns, std::int64_t calls,
                                          double noise_ns) {
    if (calls < 1) return usage_error(fmt::format("K cannot be {}", calls));
    DEEPJIT_CHECK(require_positive(serial_ns, "serial"));
    KnownLaunchCost cost;
    cost.launch_total_ns = launch_ns * static_cast<double>(calls);
    cost.work_ns = serial_ns - cost.launch_total_ns;
    if (cost.work_ns < -noise_ns)
        return usage_error(
            fmt::format("L cannot be {}: {} of them alone would take {}, more than the whole {}",
                        format_duration(launch_ns), calls, format_duration(cost.launch_total_ns),
                        format_duration(serial_ns)),
            {},
            "the cost of one launch is what the device waits for it, not how long the call "
            "takes on the host");
    cost.work_ns = std::max(0.0, cost.work_ns);
    cost.launch_total_ns = std::min(cost.launch_total_ns, serial_ns);
    cost.launch_ns = cost.launch_total_ns / static_cast<double>(calls);
    cost.launch_share = cost.launch_total_ns / serial_ns;
    cost.fused_ns = cost.work_ns + cost.launch_ns;
    return cost;
}

Result<LaunchFit> fit_launch_points(const std::vector<LaunchPoint>& points) {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<double> through_point;
        for (std::size_t j = 0; j < points.size(); ++j)
            if (points[j].calls != points[i].calls)
                through_point.push_back((points[j].total_ns - points[i].total_ns) /
                                        (points[j].calls - points[i].calls));
        if (!through_point.empty()) slopes.push_back(median(std::move(through_point)));
    }
    if (slopes.empty())
        return usage_error("a line needs points with at least two different K", {},
                           "write --points K:time,K:time, such as 8:51.9us,117:735us");
    LaunchFit fit;
    fit.slope_ns = median(slopes);
    if (fit.slope_ns < 0)
        return usage_error(
            fmt::format("L cannot be {}: the totals fall as K grows", format_duration(fit.slope_ns)));
    std::vector<double> intercepts;
    std::vector<double> per_call;
    for (const LaunchPoint& point : points) {
        intercepts.push_back(point.total_ns - fit.slope_ns * point.calls);
        per_call.push_back(point.total_ns / point.calls);
    }
    fit.intercept_ns = median(intercepts);
    fit.through_origin_ns = median(per_call);
    std::vector<double> magnitudes;
    for (const double intercept : intercepts) {
        fit.residuals_ns.push_back(intercept - fit.intercept_ns);
        magnitudes.push_back(std::abs(fit.residuals_ns.back()));
    }
    fit.spread_ns = median(magnitudes);
    fit.judges_outliers = points.size() >= kPointsToJudgeOutliers;
    const double limit_ns = kOutlierSpreads * kNormalMedianDeviation * fit.spread_ns;
    for (std::size_t i = 0; i < points.size() && fit.judges_outliers; ++i)
        if (magnitudes[i] > std::max(limit_ns, 1e-9 * std::abs(points[i].total_ns))) // rounding is no spread
            fit.outliers.push_back(i);
    return fit;
}

Result<FrameGain> gain_of_frame(double frame_ns, double before_ns, double after_ns) {
    DEEPJIT_CHECK(require_positive(frame_ns, "frame"));
    if (before_ns > frame_ns)
        return usage_error(fmt::format("the frame cannot be {}: the part measured in it takes {}",
                                       format_duration(frame_ns), format_duration(before_ns)),
                           {}, "--frame is the time of the whole frame, the unfused part included");
    FrameGain gain;
    gain.saved_ns = before_ns - after_ns;
    gain.frame_ns = frame_ns - gain.saved_ns;
    gain.saved_share = gain.saved_ns / frame_ns;
    gain.speedup = frame_ns / gain.frame_ns;
    return gain;
}

} // namespace deepjit::model
