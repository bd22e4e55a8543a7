#include "src/model/report.hpp"

#include <algorithm>

namespace deepjit::model {

std::string_view name_of(Origin origin) {
    switch (origin) {
    case Origin::Measured:
        return "measured";
    case Origin::Calibrated:
        return "calibrated";
    case Origin::Derived:
        return "derived";
    case Origin::Assumed:
        return "assumed";
    case Origin::Estimated:
        return "estimated";
    }
    return "";
}

std::string_view name_of(GapCause cause) {
    switch (cause) {
    case GapCause::HostLate:
        return "host late";
    case GapCause::DeviceLatency:
        return "device latency";
    case GapCause::Blocked:
        return "blocked";
    case GapCause::Tracer:
        return "tracer";
    case GapCause::Unknown:
        return "unknown";
    }
    return "";
}

std::string_view name_of(Finding::Role role) {
    switch (role) {
    case Finding::Role::Trust:
        return "trust";
    case Finding::Role::ThreePart:
        return "three-part test";
    case Finding::Role::Culprit:
        return "culprit";
    }
    return "";
}

std::string_view name_of(Finding::Outcome outcome) {
    switch (outcome) {
    case Finding::Outcome::Holds:
        return "holds";
    case Finding::Outcome::DoesNotHold:
        return "does not hold";
    case Finding::Outcome::Abstains:
        return "abstains";
    }
    return "";
}

std::string_view name_of(Advice advice) {
    switch (advice) {
    case Advice::LeaveAlone:
        return "leave alone";
    case Advice::CudaGraph:
        return "CUDA Graph";
    case Advice::Fuse:
        return "fuse";
    case Advice::FuseThenGraph:
        return "fuse then graph";
    case Advice::Withheld:
        return "withheld";
    }
    return "";
}

std::string_view name_of(NoKernels::Cause cause) {
    switch (cause) {
    case NoKernels::Cause::DriverNotInitialised:
        return "driver not initialised";
    case NoKernels::Cause::NothingLaunched:
        return "nothing launched";
    case NoKernels::Cause::RecordsMissing:
        return "records missing";
    case NoKernels::Cause::NotWatched:
        return "not watched";
    case NoKernels::Cause::CutOff:
        return "cut off";
    case NoKernels::Cause::NothingSelected:
        return "nothing selected";
    case NoKernels::Cause::GraphLevel:
        return "graph level";
    }
    return "";
}

const ChainAdvice* Report::chain(int number) const {
    const auto found = std::find_if(chains.begin(), chains.end(),
                                    [&](const ChainAdvice& advice) { return advice.chain.number == number; });
    return found == chains.end() ? nullptr : &*found;
}

} // namespace deepjit::model
