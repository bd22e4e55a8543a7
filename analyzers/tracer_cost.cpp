#include "analyzers/tracer_cost.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {

std::vector<model::Finding> find_tracer_cost(const Evidence& evidence) {
    if (evidence.trace.kernels.empty()) return {};
    const std::optional<double> cost_ns = evidence.trace.calibration.tracer_launch_ns;
    model::Finding finding{
        "tracer-cost", model::Finding::Role::Trust, model::Finding::Outcome::Holds, "", "", {}};
    if (cost_ns) {
        finding.statement = fmt::format("Tracing cost {} a launch (calibrated); L is given without it.",
                                        format_duration(*cost_ns));
        finding.measures.push_back({"tracer_launch_ns", *cost_ns, 0});
    } else {
        finding.outcome = model::Finding::Outcome::Abstains;
        finding.statement = "The cost of tracing was not calibrated: L is as traced, and too high.";
    }
    return {finding};
}

} // namespace deepjit::analyzers
