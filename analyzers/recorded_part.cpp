#include "analyzers/recorded_part.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

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
        return "until the program was killed";
    default:
        return "to the end";
    }
}

bool is_whole_run(const RecordingWindow& window) {
    return window.start_bound == WindowBound::Process && window.end_bound == WindowBound::Process;
}

std::string statement_of(const std::vector<RecordingWindow>& windows) {
    const RecordingWindow& first = windows.front();
    if (windows.size() == 1 && first.start_bound == WindowBound::Process &&
        first.end_bound == WindowBound::Unknown)
        return "The program was killed: its last moments, 0.2 s at most, are not in the trace.";
    std::int64_t recorded_ns = 0;
    for (const RecordingWindow& window : windows)
        recorded_ns += std::max<std::int64_t>(0, window.end_ns.value_or(window.start_ns) - window.start_ns);
    const std::string length =
        recorded_ns > 0 ? fmt::format("{}, ", format_duration(static_cast<double>(recorded_ns))) : "";
    if (windows.size() == 1)
        return fmt::format("Only a part of the run was recorded: {}{} {}.", length, start_text(first),
                           end_text(first));
    return fmt::format("Only parts of the run were recorded: {}in {} windows, the first {} {}.", length,
                       format_count(static_cast<std::int64_t>(windows.size())), start_text(first),
                       end_text(first));
}

} // namespace

std::vector<model::Finding> find_recorded_part(const Evidence& evidence) {
    std::vector<RecordingWindow> partial;
    for (const RecordingWindow& window : evidence.trace.windows)
        if (!is_whole_run(window)) partial.push_back(window);
    if (partial.empty()) return {};
    return {{"recorded-part",
             model::Finding::Role::Trust,
             model::Finding::Outcome::Holds,
             statement_of(partial),
             "",
             {}}};
}

} // namespace deepjit::analyzers
