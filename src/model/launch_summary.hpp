#pragma once

#include "src/base/result.hpp"
#include "src/model/launch_model.hpp"

#include <optional>

namespace deepjit::model {

/// What a person knows: any of these, in nanoseconds.
struct LaunchQuestion {
    std::optional<double> serial_ns = std::nullopt;
    std::optional<double> fused_ns = std::nullopt;
    std::optional<double> graph_ns = std::nullopt;
    std::optional<double> launch_cost_ns = std::nullopt; ///< L itself
    std::optional<double> frame_ns = std::nullopt;       ///< the frame that the serial work is a part of
    std::int64_t calls = 0;                              ///< K; 0 not given
    double noise_ns = 0;
    std::vector<LaunchPoint> points = {};
};

/// What follows from it: each part where its numbers were given.
struct LaunchSummary {
    LaunchQuestion question;
    std::optional<LaunchEstimate> estimate; ///< serial and fused
    std::optional<GraphDifference> graph;   ///< serial and graph
    std::optional<KnownLaunchCost> known;   ///< serial and L
    std::optional<LaunchFit> fit;           ///< points
    std::optional<FrameGain> frame_fused;   ///< frame, serial and fused
    std::optional<FrameGain> frame_graph;   ///< frame, serial and graph
    std::optional<FrameGain> frame_known;   ///< frame, serial and L
    /// Whether the largest share that the numbers say can be won is below kLeaveAloneShare; absent where the
    /// serial time was compared with nothing.
    std::optional<bool> leave_alone;
};

/// Refuses a question that lacks numbers (naming them) or whose numbers contradict each other.
Result<LaunchSummary> summarise_launches(const LaunchQuestion& question);

} // namespace deepjit::model
