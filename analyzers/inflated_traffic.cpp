#include "analyzers/inflated_traffic.hpp"

#include "analyzers/measured_traffic.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {
namespace {

/// Absent where a part of it is.
std::optional<MeasuredTraffic> sum(const MeasuredTraffic& total,
                                   const std::optional<MeasuredTraffic>& chain) {
    if (!chain) return std::nullopt;
    MeasuredTraffic both{total.l2_bytes + chain->l2_bytes, std::nullopt};
    if (total.dram_bytes && chain->dram_bytes) both.dram_bytes = *total.dram_bytes + *chain->dram_bytes;
    return both;
}

/// " Measured: 13 MiB through L2 and 0 B through DRAM."
std::string describe(const MeasuredTraffic& measured) {
    std::string text = fmt::format(" Measured: {} through L2", format_bytes(measured.l2_bytes));
    if (measured.dram_bytes) text += fmt::format(" and {} through DRAM", format_bytes(*measured.dram_bytes));
    return text + ".";
}

} // namespace

std::vector<model::Finding> find_inflated_traffic(const Evidence& evidence) {
    model::Finding finding{"inflated-traffic",
                           model::Finding::Role::ThreePart,
                           model::Finding::Outcome::Abstains,
                           "There is no chain to measure traffic of.",
                           "",
                           {}};
    model::LogicalTraffic total;
    std::optional<MeasuredTraffic> measured = MeasuredTraffic{0, 0};
    std::string unknown;
    for (const model::ChainAdvice& chain : evidence.chains) {
        if (!chain.traffic) {
            if (unknown.empty()) unknown = chain.traffic_unknown;
            continue;
        }
        total.moved_bytes += chain.traffic->moved_bytes;
        total.compulsory_bytes += chain.traffic->compulsory_bytes;
        if (measured) measured = sum(*measured, measured_traffic(evidence.trace, chain.chain));
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
    if (measured) finding.statement += describe(*measured);
    finding.measures = {{"logical_inflation", inflation, evidence.options.inflation}};
    return {finding};
}

} // namespace deepjit::analyzers
