#include "analyzers/registry.hpp"

#include "analyzers/blocked_host.hpp"
#include "analyzers/exposed_gaps.hpp"
#include "analyzers/incomplete_trace.hpp"
#include "analyzers/inflated_traffic.hpp"
#include "analyzers/recorded_part.hpp"
#include "analyzers/short_kernels.hpp"
#include "analyzers/tracer_cost.hpp"

#include <array>

namespace deepjit::analyzers {

std::span<const Analyzer> all_analyzers() {
    static constexpr std::array kAnalyzers = {
        Analyzer{"recorded-part", find_recorded_part}, Analyzer{"incomplete-trace", find_incomplete_trace},
        Analyzer{"tracer-cost", find_tracer_cost},     Analyzer{"short-kernels", find_short_kernels},
        Analyzer{"exposed-gaps", find_exposed_gaps},   Analyzer{"inflated-traffic", find_inflated_traffic},
        Analyzer{"blocked-host", find_blocked_host},
    };
    return kAnalyzers;
}

} // namespace deepjit::analyzers
