#include "src/ingest/recording_windows.hpp"

namespace deepjit::ingest {
namespace {

trace::WindowBound bound_of(wire::WindowCause cause) {
    switch (cause) {
    case wire::WindowCause::Process:
        return trace::WindowBound::Process;
    case wire::WindowCause::Time:
        return trace::WindowBound::Time;
    case wire::WindowCause::Frames:
        return trace::WindowBound::Frames;
    case wire::WindowCause::Range:
        return trace::WindowBound::Range;
    case wire::WindowCause::ProfilerApi:
        return trace::WindowBound::ProfilerApi;
    }
    return trace::WindowBound::Unknown;
}

} // namespace

void RecordingWindows::add(const wire::WindowStart& start) {
    trace::RecordingWindow& window = windows_.emplace_back();
    closed_ = false;
    window.start_ns = start.time_ns;
    window.start_bound = bound_of(start.cause);
    window.start_frames = static_cast<std::int64_t>(start.frames);
}

void RecordingWindows::add(const wire::WindowEnd& end) {
    if (windows_.empty() || windows_.back().end_ns) return;
    trace::RecordingWindow& window = windows_.back();
    closed_ = true;
    window.end_ns = end.time_ns;
    window.end_bound = bound_of(end.cause);
    window.end_frames = static_cast<std::int64_t>(end.frames);
}

void RecordingWindows::finish(trace::TraceWriter& trace, std::uint32_t process_id,
                              const wire::FileHeader& header,
                              const std::optional<std::int64_t>& process_end_ns) {
    if (!windows_.empty() && !windows_.back().end_ns) {
        trace::RecordingWindow& last = windows_.back();
        last.end_frames = last.start_frames;
        if (header.stop_reason != wire::StopReason::None) {
            last.end_ns = header.stop_time_ns;
            last.end_bound = header.stop_reason == wire::StopReason::SizeLimit
                                 ? trace::WindowBound::SizeLimit
                                 : trace::WindowBound::WriteFailed;
        } else if (process_end_ns) {
            last.end_ns = process_end_ns;
            last.end_bound = trace::WindowBound::Process;
        }
    }
    for (trace::RecordingWindow& window : windows_) {
        window.process_id = process_id;
        trace.add(window);
    }
}

} // namespace deepjit::ingest
