#pragma once

#include "src/trace/trace.hpp"
#include "src/wire/records.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace deepjit::ingest {

/// Collects when one process was recorded, from the records that open and close windows.
class RecordingWindows {
  public:
    void add(const wire::RecordingSelection&) { selects_part_ = true; }
    void add(const wire::WindowStart& start);
    void add(const wire::WindowEnd& end);

    /// Adds the rows. A window that is still open ends with the recording: where that was stopped, else with
    /// the process, where it told its end.
    void finish(trace::TraceWriter& trace, std::uint32_t process_id, const wire::FileHeader& header,
                const std::optional<std::int64_t>& process_end_ns);

    /// Whether the options asked for a part of the run.
    bool selects_part() const { return selects_part_; }
    /// Whether what the process did last was to be recorded.
    bool open_at_end() const { return !windows_.empty() && !closed_; }
    std::int64_t count() const { return static_cast<std::int64_t>(windows_.size()); }

  private:
    bool selects_part_ = false;
    bool closed_ = false; ///< the last window
    std::vector<trace::RecordingWindow> windows_;
};

} // namespace deepjit::ingest
