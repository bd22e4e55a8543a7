#include "src/trace/window_rows.hpp"

namespace deepjit::trace {
namespace {

WindowBound bound_of(std::int64_t number) {
    return number >= 1 && number <= static_cast<std::int64_t>(WindowBound::WriteFailed)
               ? static_cast<WindowBound>(number)
               : WindowBound::Unknown;
}

} // namespace

Result<void> WindowRowWriter::prepare(const Database& database) {
    DEEPJIT_TRY(window_, database.prepare("INSERT INTO window_entry (process_id, start_ns, end_ns, "
                                          "start_bound, end_bound, start_frames, end_frames) "
                                          "VALUES (?,?,?,?,?,?,?)"));
    return {};
}

void WindowRowWriter::release() {
    window_ = Statement();
}

Result<void> WindowRowWriter::add(const RecordingWindow& window) {
    return window_.run(window.process_id, window.start_ns, window.end_ns,
                       static_cast<int>(window.start_bound), static_cast<int>(window.end_bound),
                       window.start_frames, window.end_frames);
}

Result<std::vector<RecordingWindow>> read_recording_windows(const Database& database) {
    DEEPJIT_TRY(Statement row,
                database.prepare("SELECT process_id, start_ns, end_ns, start_bound, end_bound, "
                                 "start_frames, end_frames FROM window_entry "
                                 "ORDER BY start_ns, window_id"));
    std::vector<RecordingWindow> windows;
    for (;;) {
        DEEPJIT_TRY(const bool has_row, row.step());
        if (!has_row) return windows;
        RecordingWindow& window = windows.emplace_back();
        row.read(0, window.process_id);
        row.read(1, window.start_ns);
        if (!row.is_null(2)) window.end_ns = row.integer(2);
        window.start_bound = bound_of(row.integer(3));
        window.end_bound = bound_of(row.integer(4));
        row.read(5, window.start_frames);
        row.read(6, window.end_frames);
    }
}

} // namespace deepjit::trace
