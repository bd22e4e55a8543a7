#include "analyzers/inflated_traffic.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {

std::vector<model::Finding> find_inflated_traffic(const Evidence& evidence) {
    model::Finding finding{"inflated-traffic",
                           model::Finding::Role::ThreePart,
                           model::Finding::Outcome::Abstains,
                           "There is no chain to measure traffic of.",
                           "",
                           {}};
    model::LogicalTraffic total;
    std::string unknown;
    for (const model::ChainAdvice& chain : evidence.chains) {
        if (!chain.traffic) {
            if (unknown.empty()) unknown = chain.traffic_unknown;
            continue;
        }
        total.moved_bytes += chain.traffic->moved_bytes;
        total.compulsory_bytes += chain.traffic->compulsory_bytes;
    }
    if (total.compulsory_bytes <= 0) {
        if (!unknown.empty()) finding.statement = fmt::format("Traffic is unknown: {}.", unknown);
        return {finding};
    }
    const double inflation = total.inflation();
    finding.outcome = inflation >= evidence.options.inflation ? model::Finding::Outcome::Holds
                                                              : model::Finding::Outcome::DoesNotHold;
    finding.statement =
        fmt::format("The chains move {} where {} would do: {:.1f} times (logical).",
                    format_bytes(total.moved_bytes), format_bytes(total.compulsory_bytes), inflation);
    finding.measures = {{"logical_inflation", inflation, evidence.options.inflation}};
    return {finding};
}

} // namespace deepjit::analyzers
