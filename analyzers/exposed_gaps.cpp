#include "analyzers/exposed_gaps.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {

std::vector<model::Finding> find_exposed_gaps(const Evidence& evidence) {
    model::Finding finding{"exposed-gaps",
                           model::Finding::Role::ThreePart,
                           model::Finding::Outcome::Abstains,
                           "No frame was found to look for gaps in.",
                           "",
                           {}};
    if (evidence.summary == nullptr) return {finding};
    if (!evidence.summary->calls_recorded) {
        finding.statement = "The trace holds no launch calls: what the device waits for is unknown.";
        return {finding};
    }
    const double share = evidence.summary->exposed_share;
    finding.outcome = share >= evidence.options.exposed_gap_share ? model::Finding::Outcome::Holds
                                                                  : model::Finding::Outcome::DoesNotHold;
    finding.statement =
        fmt::format("The device waits for launches during {} of the frame's span.", format_share(share));
    finding.measures = {{"exposed_gap_share", share, evidence.options.exposed_gap_share}};
    return {finding};
}

} // namespace deepjit::analyzers
