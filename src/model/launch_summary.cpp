#include "src/model/launch_summary.hpp"

#include <algorithm>

namespace deepjit::model {
namespace {

Result<void> require_numbers(const LaunchQuestion& question) {
    const bool asks_about_serial = question.fused_ns || question.graph_ns || question.launch_cost_ns;
    if (!asks_about_serial && question.points.empty())
        return usage_error("there is nothing to compare", {},
                           "give --serial with --fused, --graph or --launch-cost, or give --points");
    if (asks_about_serial && !question.serial_ns)
        return usage_error("--fused, --graph and --launch-cost need --serial to compare with");
    if (asks_about_serial && question.calls == 0)
        return usage_error("the number of launches is missing", {},
                           "give --calls, the number of kernel launches of the serial program");
    if (question.frame_ns && !asks_about_serial)
        return usage_error("--frame needs --serial and what replaces it: --fused, --graph or --launch-cost");
    return {};
}

} // namespace

Result<LaunchSummary> summarise_launches(const LaunchQuestion& question) {
    DEEPJIT_CHECK(require_numbers(question));
    LaunchSummary summary;
    summary.question = question;
    double best_share = 0;
    const bool compares = question.fused_ns || question.graph_ns || question.launch_cost_ns;
    const auto add_frame = [&](std::optional<FrameGain>& gain, double after_ns) -> Result<void> {
        if (!question.frame_ns) return {};
        DEEPJIT_TRY(gain, gain_of_frame(*question.frame_ns, *question.serial_ns, after_ns));
        return {};
    };
    if (question.fused_ns) {
        DEEPJIT_TRY(summary.estimate, solve_launch_model({*question.serial_ns, *question.fused_ns,
                                                          question.calls, question.noise_ns}));
        DEEPJIT_CHECK(add_frame(summary.frame_fused, *question.fused_ns));
        best_share = std::max(best_share, 1 - *question.fused_ns / *question.serial_ns);
    }
    if (question.graph_ns) {
        DEEPJIT_TRY(summary.graph,
                    compare_with_graph(*question.serial_ns, *question.graph_ns, question.calls));
        DEEPJIT_CHECK(add_frame(summary.frame_graph, *question.graph_ns));
        best_share = std::max(best_share, summary.graph->saved_share);
    }
    if (question.launch_cost_ns) {
        DEEPJIT_TRY(summary.known, apply_launch_cost(*question.serial_ns, *question.launch_cost_ns,
                                                     question.calls, question.noise_ns));
        DEEPJIT_CHECK(add_frame(summary.frame_known, summary.known->fused_ns));
        best_share = std::max(best_share, 1 - summary.known->fused_ns / *question.serial_ns);
    }
    if (!question.points.empty()) {
        DEEPJIT_TRY(summary.fit, fit_launch_points(question.points));
    }
    if (compares) summary.leave_alone = best_share < kLeaveAloneShare;
    return summary;
}

} // namespace deepjit::model
