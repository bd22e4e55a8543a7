#include "cli/recording_outcome.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace deepjit::cli {
namespace {

// CUptiResult, cupti_result.h of CUDA 13.0. The command line needs no CUPTI header for three numbers.
constexpr int kCuptiNotInitialized = 15;
constexpr int kCuptiInsufficientPrivileges = 35;
constexpr int kCuptiMultipleSubscribers = 39;
constexpr int kCuptiVirtualizedPrivileges = 40;

using ingest::lost_its_records;

std::string hint_for(int cupti_result) {
    switch (cupti_result) {
    case kCuptiNotInitialized:
        return "CUPTI found no usable driver: a stub libcuda or a CUPTI of another version came first on the "
               "library path; name the right one with DEEPJIT_CUPTI_LIBRARY";
    case kCuptiInsufficientPrivileges:
    case kCuptiVirtualizedPrivileges:
        return "run as root or with CAP_SYS_ADMIN, or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    case kCuptiMultipleSubscribers:
        return "another profiler or debugger (nsys, ncu, cuda-gdb, torch.profiler) is attached to the program; "
               "run it without that one";
    default:
        return "'deepjit doctor' checks the driver, CUPTI and the tracer one by one";
    }
}

/// Names at most three.
std::string names_of(const std::vector<std::int64_t>& process_ids) {
    constexpr std::size_t kMostNames = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(kMostNames, process_ids.size()); ++i)
        names += fmt::format("{}{}", i == 0 ? "" : ", ", process_ids[i]);
    if (process_ids.size() > kMostNames)
        names += fmt::format(" and {} more", process_ids.size() - kMostNames);
    return names;
}

/// Of processes whose recording has no end: the tracer writes out what it holds every 50 ms, and what the
/// device has not completed by then comes with the next time.
std::optional<Diagnostic> lost_last_moments(const ingest::ImportSummary& summary,
                                            const std::vector<std::int64_t>& still_running) {
    std::vector<std::int64_t> killed;
    std::int64_t launches_without_kernels = 0;
    for (const ingest::ProcessSummary& process : summary.processes) {
        const bool runs =
            std::find(still_running.begin(), still_running.end(), process.process_id) != still_running.end();
        const std::int64_t recorded = process.kernels_recorded + process.graph_launches;
        const bool stopped = process.reached_size_limit || !process.write_error.empty();
        const bool says_so_elsewhere = process.flush_hangs || runs || stopped;
        if (process.ended || !process.recorded_to_the_end || says_so_elsewhere || recorded == 0) continue;
        killed.push_back(process.process_id);
        launches_without_kernels += process.launches_without_kernels;
    }
    if (killed.empty()) return std::nullopt;
    std::string evidence = "it was killed, or left by _exit or exec";
    if (launches_without_kernels > 0)
        evidence += fmt::format("; {} launches are recorded without their kernels",
                                format_count(launches_without_kernels));
    return failure(
        fmt::format("the last moments of process {} are not in the trace: up to 0.2 s, and what was running",
                    names_of(killed)),
        std::move(evidence));
}

std::vector<Diagnostic> losses(const ingest::ImportSummary& summary) {
    std::vector<Diagnostic> warnings;
    for (const ingest::ProcessSummary& process : summary.processes) {
        if (!process.write_error.empty())
            warnings.push_back(failure(
                fmt::format("recording of process {} stopped early", process.process_id), process.write_error,
                "free some space in the temporary folder, or set TMPDIR to another"));
        if (process.reached_size_limit)
            warnings.push_back(failure(
                fmt::format("recording of process {} stopped{}: it had reached its size limit",
                            process.process_id,
                            process.recorded_for_ns > 0
                                ? " after " + format_duration(static_cast<double>(process.recorded_for_ns))
                                : " at once"),
                {}, "allow more with --max-size, or record a part of the run"));
        if (process.flush_hangs && !lost_its_records(process))
            warnings.push_back(
                failure(fmt::format("the last kernels of process {} may be missing", process.process_id),
                        process.error_text));
        if (summary.kernels_recorded + summary.graph_launches > 0 && lost_its_records(process))
            warnings.push_back(
                failure(fmt::format("no kernel of process {} was recorded", process.process_id),
                        process.error_text, hint_for(process.cupti_error)));
    }
    if (summary.dropped_records > 0)
        warnings.push_back(
            failure(fmt::format("CUPTI dropped {} records", format_count(summary.dropped_records)),
                    "the program launched kernels faster than they could be stored"));
    if (summary.lost_bytes > 0)
        warnings.push_back(failure(fmt::format("{} of the recording could not be read",
                                               format_bytes(static_cast<double>(summary.lost_bytes))),
                                   "a process was killed while it was writing, or the recording is damaged"));
    if (summary.zero_timestamps > 0)
        warnings.push_back(
            failure(fmt::format("{} kernels have no times", format_count(summary.zero_timestamps)),
                    "CUPTI could not take them"));
    const ingest::ModuleImageSummary& modules = summary.modules;
    if (modules.unreadable_images > 0)
        warnings.push_back(failure(fmt::format("device code that was loaded is not in the trace ({} times)",
                                               format_count(modules.unreadable_images)),
                                   "the tracer does not know their container, or could not read them"));
    if (modules.missing_images > 0)
        warnings.push_back(failure(fmt::format("device code that was loaded was not stored ({} images)",
                                               format_count(modules.missing_images)),
                                   "their files could not be written to the run folder, or were damaged",
                                   "free some space in the temporary folder, or set TMPDIR to another"));
    return warnings;
}

} // namespace

Diagnostic explain_missing_records(int cupti_result, const std::string& tracer_text) {
    std::string evidence = tracer_text;
    if (cupti_result != 0 && evidence.empty()) evidence = fmt::format("CUPTI error {}", cupti_result);
    if (evidence.empty()) evidence = "every call to CUPTI succeeded, and yet it handed over none";
    return environment_error("the program launched kernels, but no record of them arrived", evidence,
                             hint_for(cupti_result));
}

Diagnostic explain_running_processes(const std::vector<std::int64_t>& process_ids) {
    std::string names;
    for (const std::int64_t id : process_ids)
        if (id != 0) names += fmt::format("{}{}", names.empty() ? "" : ", ", id);
    const bool is_one = process_ids.size() == 1;
    return failure(
        fmt::format("{} still {}; what {} from here on is not in the trace",
                    is_one ? "a recorded process" : fmt::format("{} recorded processes", process_ids.size()),
                    is_one ? "runs" : "run", is_one ? "it does" : "they do"),
        names.empty() ? "" : fmt::format("process id {}", names));
}

RecordingOutcome judge_recording(const ingest::ImportSummary& summary,
                                 const std::vector<std::int64_t>& still_running) {
    RecordingOutcome outcome;
    outcome.warnings = losses(summary);
    if (auto lost = lost_last_moments(summary, still_running)) outcome.warnings.push_back(*std::move(lost));
    if (summary.kernels_recorded + summary.graph_launches > 0) return outcome;
    const auto lost = std::find_if(summary.processes.begin(), summary.processes.end(), lost_its_records);
    if (lost != summary.processes.end()) {
        outcome.state = RecordingState::RecordsMissing;
        outcome.explanation = explain_missing_records(lost->cupti_error, lost->error_text);
        if (lost->cupti_error == 0 && lost->error_text.empty() && lost->lost_bytes > 0)
            outcome.explanation.evidence = "the part of the recording that held them could not be read";
        if (lost->launches_called == 0)
            outcome.explanation.message = "the program used CUDA, but the tracer could not watch it";
    } else if (std::any_of(summary.processes.begin(), summary.processes.end(),
                           [](const auto& process) { return process.reached_size_limit; })) {
        outcome.state = RecordingState::CutOff;
        outcome.explanation = failure("the recording reached its size limit before it held a kernel", {},
                                      "allow more with --max-size");
    } else if (std::any_of(summary.processes.begin(), summary.processes.end(),
                           [](const auto& process) { return process.reached_cuda && !process.ended; })) {
        outcome.state = RecordingState::CutOff;
        outcome.explanation = failure(
            "the program was ended before its recording reached the disk, so what it launched is not known",
            {}, "let it run longer, or end by itself");
    } else if (std::any_of(summary.processes.begin(), summary.processes.end(),
                           [](const auto& process) { return process.selects_part; }) &&
               std::none_of(summary.processes.begin(), summary.processes.end(),
                            [](const auto& process) { return process.windows > 0; })) {
        outcome.state = RecordingState::NothingSelected;
        outcome.explanation =
            failure("the program ended before the part of it that was to be recorded began", {},
                    "check --skip, --delay and the name given to --range, and that the program calls "
                    "cudaProfilerStart where --start-with-profiler-api is given");
    } else if (summary.driver_initialised) {
        outcome.state = RecordingState::NothingLaunched;
        outcome.explanation =
            failure("the program initialised CUDA but launched no kernel", {},
                    "if it should have, check its arguments, and that it ran to where it uses the GPU");
    } else {
        outcome.state = RecordingState::DriverNotInitialised;
        outcome.explanation =
            failure("the program never initialised CUDA, so there is no kernel in the trace", {},
                    "if it hands its GPU work to a process that runs already, profile that one");
    }
    return outcome;
}

} // namespace deepjit::cli
