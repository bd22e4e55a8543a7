#include "cli/import_report.hpp"

#include "cli/trace_output.hpp"
#include "cli/traffic_report.hpp"
#include "src/base/units.hpp"
#include "src/trace/trace.hpp"

#include <fmt/format.h>

namespace deepjit::cli {
namespace {

std::string plural(std::int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

/// " over 2.31 s on NVIDIA H200", as far as the trace knows.
std::string span_and_devices(const std::filesystem::path& trace_path) {
    std::string text;
    const auto trace = trace::Trace::open(trace_path);
    if (!trace) return text;
    if (const auto span = trace->kernel_span(); span && *span)
        text += " over " + format_duration(static_cast<double>((*span)->end_ns - (*span)->start_ns));
    if (const auto devices = trace->devices(); devices && !devices->empty()) {
        text += " on " + devices->front().name;
        if (devices->size() > 1) text += fmt::format(" and {} more", devices->size() - 1);
    }
    return text;
}

void report_capture(Terminal& terminal, const ingest::CaptureSummary& capture) {
    if (capture.launches == 0)
        return terminal.warn(failure("the chain was not captured",
                                     "it did not run twice as a whole in one stream, with the kernels, grids "
                                     "and blocks of the earlier trace",
                                     "record the program anew, and capture a chain of that trace"));
    terminal.note(fmt::format("captured {}, with their buffers before and after ({}, {})",
                              plural(capture.launches, "launch", "launches"),
                              plural(capture.buffers - capture.missing_buffers, "copy", "copies"),
                              format_bytes(static_cast<double>(capture.bytes))));
    if (capture.missing_buffers > 0)
        terminal.warn(
            failure(fmt::format("{} not saved", plural(capture.missing_buffers, "copy of a buffer was",
                                                       "copies of buffers were")),
                    "over the limit, or the buffer could not be read, or its copy not written",
                    "raise --capture-limit"));
}

} // namespace

void report_import(Terminal& terminal, const ingest::ImportSummary& summary, const RecordingOutcome& outcome,
                   const std::filesystem::path& trace_path) {
    std::error_code ignored;
    const auto file_bytes = static_cast<double>(std::filesystem::file_size(trace_path, ignored));
    const bool graphs_alone = summary.kernels_recorded == 0 && summary.graph_launches > 0;
    if (outcome.state == RecordingState::Recorded && !graphs_alone)
        terminal.note(
            fmt::format("recorded {} from {}{}", plural(summary.kernels_recorded, "kernel", "kernels"),
                        plural(summary.launches_called, "launch", "launches"), span_and_devices(trace_path)));
    if (summary.graph_launches > 0)
        terminal.note(fmt::format("recorded {} as a whole; the kernels in them are not in the trace",
                                  plural(summary.graph_launches, "graph launch", "graph launches")));
    const bool modules_were_recorded = summary.modules.images + summary.modules.unreadable_images > 0;
    if (modules_were_recorded && summary.modules.kernels_without_image > 0)
        terminal.note(fmt::format("the trace holds no device code of {} of {}",
                                  format_count(summary.modules.kernels_without_image),
                                  plural(summary.modules.launched_kernels, "kernel", "different kernels")));
    terminal.note(fmt::format("wrote {} ({})", trace_path.string(), format_bytes(file_bytes)));
    for (const Diagnostic& warning : outcome.warnings)
        terminal.warn(warning);
    if (outcome.state == RecordingState::NothingSelected ||
        outcome.state == RecordingState::NothingLaunched || outcome.state == RecordingState::CutOff)
        terminal.warn(outcome.explanation);
    if (outcome.state == RecordingState::DriverNotInitialised)
        terminal.note("note: " + outcome.explanation.message);
    if (summary.capture.asked_for) report_capture(terminal, summary.capture);
    if (summary.traffic.asked_for) report_traffic(terminal, summary.traffic);
    if (outcome.state == RecordingState::Recorded)
        terminal.next_command("deepjit advise " + shell_word(trace_path.string()));
}

} // namespace deepjit::cli
