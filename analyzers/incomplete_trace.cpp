#include "analyzers/incomplete_trace.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deepjit::analyzers {

std::vector<model::Finding> find_incomplete_trace(const Evidence& evidence) {
    std::vector<model::Finding> findings;
    const auto add = [&](std::string statement, std::string remedy) {
        findings.push_back({"incomplete-trace",
                            model::Finding::Role::Trust,
                            model::Finding::Outcome::Holds,
                            std::move(statement),
                            std::move(remedy),
                            {}});
    };
    for (const trace::Process& process : evidence.trace.processes) {
        if (process.dropped_records > 0)
            add(fmt::format("CUPTI dropped {} records of process {}: kernels are missing.",
                            format_count(process.dropped_records), process.process_id),
                "Record fewer frames.");
        if (process.lost_bytes > 0)
            add(fmt::format("The last {} of process {} could not be read.",
                            format_bytes(static_cast<double>(process.lost_bytes)), process.process_id),
                "");
    }
    const auto untimed = std::count_if(evidence.trace.kernels.begin(), evidence.trace.kernels.end(),
                                       [](const trace::Kernel& kernel) { return kernel.start_ns <= 0; });
    if (untimed > 0)
        add(fmt::format("{} kernels have no times: frames with them are left out.", format_count(untimed)),
            "");
    const auto without_arguments = std::count_if(
        evidence.trace.kernels.begin(), evidence.trace.kernels.end(),
        [](const trace::Kernel& kernel) { return kernel.arguments_id == 0 && kernel.graph_id == 0; });
    if (without_arguments > 0)
        add(fmt::format("{} launches have no recorded arguments: what they need is assumed, not proved.",
                        format_count(without_arguments)),
            "");
    return findings;
}

} // namespace deepjit::analyzers
