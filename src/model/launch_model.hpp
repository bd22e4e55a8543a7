#pragma once

#include "src/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// The launch model: t = c + K·L + T (see DESIGN and ARCHITECTURE). Times in nanoseconds.
namespace deepjit::model {

/// Totals of one piece of work, unfused and fused.
struct LaunchTotals {
    double serial_ns = 0;
    double fused_ns = 0;
    std::int64_t calls = 0; ///< K
    double noise_ns = 0;    ///< how far below zero T may come out and still count as zero
};

/// Where T comes out below zero within the noise, T is zero and all of the serial time is launches: K·L =
/// serial. Where fused comes out above serial within the noise, L is zero and T = serial.
struct LaunchEstimate {
    double launch_ns = 0;              ///< L = (serial − fused)/(K − 1)
    double launch_total_ns = 0;        ///< K·L, at most serial
    double work_ns = 0;                ///< T = fused − L
    double launch_share = 0;           ///< K·L/serial
    double fused_launch_share = 0;     ///< L/fused: the launch part still left after fusion
    bool work_counted_as_zero = false; ///< T came out below zero within the noise
};

/// Solves serial = K·L + T and fused = L + T. Refuses K < 2, fused > serial beyond the noise, and T < −noise.
Result<LaunchEstimate> solve_launch_model(const LaunchTotals& totals);

/// Share below which launches are not worth removing.
inline constexpr double kLeaveAloneShare = 0.05;

/// From a stream and a graph time of the same K kernels: what one launch costs more than one graph node.
struct GraphDifference {
    double per_node_ns = 0; ///< (serial − graph)/K
    double saved_ns = 0;    ///< serial − graph
    double saved_share = 0; ///< of serial
    double speedup = 0;     ///< serial ÷ graph
    double serial_per_call_ns = 0;
    double graph_per_node_ns = 0; ///< graph ÷ K, its kernels' work included
};
Result<GraphDifference> compare_with_graph(double serial_ns, double graph_ns, std::int64_t calls);

/// K and L known: what of `serial_ns` is launches, and what fusing all of it into one launch could leave.
struct KnownLaunchCost {
    double launch_ns = 0;       ///< L, no more than serial ÷ K
    double launch_total_ns = 0; ///< K·L
    double launch_share = 0;
    double work_ns = 0;  ///< T = serial − K·L, zero where it comes out below zero within the noise
    double fused_ns = 0; ///< T + L
};
Result<KnownLaunchCost> apply_launch_cost(double serial_ns, double launch_ns, std::int64_t calls,
                                          double noise_ns);

/// One measured total.
struct LaunchPoint {
    double calls = 0;
    double total_ns = 0;
};
/// total = intercept + slope·calls.
struct LaunchFit {
    double slope_ns = 0;
    double intercept_ns = 0;
    double through_origin_ns = 0;      ///< median of total ÷ K: the slope where no fixed term is allowed
    bool judges_outliers = false;      ///< there were enough points to tell a wrong one
    std::vector<std::size_t> outliers; ///< indices of points far from the line
    std::vector<double> residuals_ns;  ///< total − fit, by point
    double spread_ns = 0;              ///< median absolute residual
};
/// Fewer points than this tell no outlier: two of them make the line, and the median residual of the few
/// others is too small too often by chance.
inline constexpr std::size_t kPointsToJudgeOutliers = 6;
/// Repeated medians (Siegel 1982): the line holds while fewer than half of the points are wrong. Needs two
/// different K. From kPointsToJudgeOutliers on, a point is an outlier when it is more than 2.5 · 1.4826 ·
/// spread_ns off the line: 2.5 standard deviations of normal errors.
Result<LaunchFit> fit_launch_points(const std::vector<LaunchPoint>& points);

/// Amdahl: what a frame gains when a part of it goes from `before_ns` to `after_ns`.
struct FrameGain {
    double frame_ns = 0; ///< after
    double saved_ns = 0;
    double saved_share = 0;
    double speedup = 0;
};
Result<FrameGain> gain_of_frame(double frame_ns, double before_ns, double after_ns);

} // namespace deepjit::model
