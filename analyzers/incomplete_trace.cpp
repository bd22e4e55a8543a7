#include "analyzers/incomplete_trace.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deepjit::analyzers {
namespace {

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

} // namespace

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
            add(fmt::format("CUPTI dropped {} of process {}: kernels are missing.",
                            counted(process.dropped_records, "record", "records"), process.process_id),
                "Record fewer frames.");
        if (process.lost_bytes > 0)
            add(fmt::format("The last {} of process {} could not be read.",
                            format_bytes(static_cast<double>(process.lost_bytes)), process.process_id),
                "");
    }
    const auto untimed = std::count_if(evidence.trace.kernels.begin(), evidence.trace.kernels.end(),
                                       [](const trace::Kernel& kernel) { return !has_times(kernel); });
    if (untimed > 0)
        add(fmt::format("{} no times: frames with {} are left out.",
                        counted(untimed, "kernel has", "kernels have"), untimed == 1 ? "it" : "them"),
            "");
    if (evidence.frames != nullptr && evidence.frames->incomplete_frames > 0)
        add(fmt::format("{} left out: a launch of a graph lacks kernels.",
                        counted(evidence.frames->incomplete_frames, "frame is", "frames are")),
            "");
    const auto lost_calls =
        std::count_if(evidence.trace.kernels.begin(), evidence.trace.kernels.end(),
                      [&](const trace::Kernel& kernel) { return lost_its_call(evidence.trace, kernel); });
    if (lost_calls > 0)
        add(fmt::format("The launch {} missing: what the device waited for before {} is unknown.",
                        lost_calls == 1 ? "call of 1 kernel is"
                                        : fmt::format("calls of {} kernels are", format_count(lost_calls)),
                        lost_calls == 1 ? "it" : "them"),
            "");
    const auto without_arguments = std::count_if(
        evidence.trace.kernels.begin(), evidence.trace.kernels.end(),
        [](const trace::Kernel& kernel) { return kernel.arguments_id == 0 && kernel.graph_id == 0; });
    if (without_arguments > 0)
        add(fmt::format("{} no recorded arguments: what {} is assumed, not proved.",
                        counted(without_arguments, "launch has", "launches have"),
                        without_arguments == 1 ? "it needs" : "they need"),
            "");
    return findings;
}

} // namespace deepjit::analyzers
