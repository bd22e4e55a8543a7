#include "analyzers/recorded_part.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace deepjit::analyzers {
namespace {

using trace::RecordingWindow;
using trace::WindowBound;

std::string start_text(const RecordingWindow& window) {
    switch (window.start_bound) {
    case WindowBound::Frames:
        return fmt::format("from the end of frame {}", format_count(window.start_frames));
    case WindowBound::Range:
        return fmt::format("from occurrence {} of the NVTX range", format_count(window.start_frames));
    case WindowBound::ProfilerApi:
        return "from cudaProfilerStart";
    case WindowBound::Time:
        return "after the delay";
    default:
        return "from the start";
    }
}

std::string end_text(const RecordingWindow& window) {
    switch (window.end_bound) {
    case WindowBound::Frames:
        return fmt::format("to the end of frame {}", format_count(window.end_frames));
    case WindowBound::Range:
        return "to its end";
    case WindowBound::ProfilerApi:
        return "to cudaProfilerStop";
    case WindowBound::Time:
        return "for the duration given";
    case WindowBound::SizeLimit:
        return "until the recording reached its size limit";
    case WindowBound::WriteFailed:
        return "until it could not be written";
    case WindowBound::Unknown:
        return "until the recording broke off";
    default:
        return "to the end";
    }
}

bool is_whole_run(const RecordingWindow& window) {
    return window.start_bound == WindowBound::Process && window.end_bound == WindowBound::Process;
}

/// A process that told no end, and was recorded to the last moment that reached the disk.
bool broke_off(const RecordingWindow& window) {
    return window.start_bound == WindowBound::Process && window.end_bound == WindowBound::Unknown;
}

std::string text_of_parts(const std::vector<RecordingWindow>& windows) {
    const RecordingWindow& first = windows.front();
    if (windows.size() > 1)
        return fmt::format("Only parts of the run were recorded: {} windows, the first {} {}.",
                           format_count(static_cast<std::int64_t>(windows.size())), start_text(first),
                           end_text(first));
    const std::string length =
        first.end_ns && *first.end_ns > first.start_ns
            ? fmt::format("{}, ", format_duration(static_cast<double>(*first.end_ns - first.start_ns)))
            : "";
    return fmt::format("Only a part of the run was recorded: {}{} {}.", length, start_text(first),
                       end_text(first));
}

model::Finding finding_of(std::string statement) {
    return {"recorded-part",
            model::Finding::Role::Trust,
            model::Finding::Outcome::Holds,
            std::move(statement),
            "",
            {}};
}

} // namespace

std::vector<model::Finding> find_recorded_part(const Evidence& evidence) {
    std::vector<RecordingWindow> parts;
    std::int64_t broken_off = 0;
    for (const RecordingWindow& window : evidence.trace.windows) {
        if (broke_off(window))
            ++broken_off;
        else if (!is_whole_run(window))
            parts.push_back(window);
    }
    std::vector<model::Finding> findings;
    if (!parts.empty()) findings.push_back(finding_of(text_of_parts(parts)));
    if (broken_off > 0)
        findings.push_back(finding_of(fmt::format(
            "The recording of {} has no end (killed, left by _exit or exec, or still running): what was running then, "
            "and up to 0.2 s before, is missing.",
            broken_off == 1 ? "a process" : format_count(broken_off) + " processes")));
    return findings;
}

} // namespace deepjit::analyzers
