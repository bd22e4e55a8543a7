#include "analyzers/tracer_cost.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {

std::vector<model::Finding> find_tracer_cost(const Evidence& evidence) {
    if (evidence.trace.kernels.empty()) return {};
    const model::Calibration& calibration = evidence.trace.calibration;
    const std::optional<double> cost_ns = calibration.tracer_launch_ns;
    model::Finding finding{
        "tracer-cost", model::Finding::Role::Trust, model::Finding::Outcome::Holds, "", "", {}};
    // Frames that launch both ways are told of both.
    const auto mixed_text = [&]() -> std::string {
        if (evidence.summary == nullptr || evidence.summary->tracer_graph_ns <= 0) return "";
        return fmt::format(" and {} a frame for its graphs",
                           format_duration(evidence.summary->tracer_graph_ns));
    };
    const bool in_graph = evidence.summary != nullptr && evidence.summary->in_graph;
    if (in_graph && evidence.summary->corrected) {
        finding.statement = fmt::format(
            "Tracing cost {} a graph launch and {} a node (calibrated); the estimates are without it.",
            format_duration(*calibration.tracer_graph_ns),
            format_duration(*calibration.tracer_graph_node_ns));
        finding.measures.push_back({"tracer_graph_ns", evidence.summary->tracer_graph_ns, 0});
    } else if (in_graph) {
        finding.outcome = model::Finding::Outcome::Abstains;
        finding.statement =
            "The cost of tracing graphs was not calibrated: the frame is as traced, and too long.";
    } else if (cost_ns) {
        finding.statement = fmt::format("Tracing cost {} a launch{} (calibrated); L is given without it.",
                                        format_duration(*cost_ns), mixed_text());
        finding.measures.push_back({"tracer_launch_ns", *cost_ns, 0});
    } else {
        finding.outcome = model::Finding::Outcome::Abstains;
        finding.statement = "The cost of tracing was not calibrated: L is as traced, and too high.";
    }
    return {finding};
}

} // namespace deepjit::analyzers
