#pragma once

#include "src/trace/database.hpp"
#include "src/trace/records.hpp"

#include <vector>

/// The table of the parts of a run that were recorded. TraceWriter and Trace use this.
namespace deepjit::trace {

class WindowRowWriter {
  public:
    Result<void> prepare(const Database& database);
    /// Gives up the statement, so that the database can be closed.
    void release();

    Result<void> add(const RecordingWindow& window);

  private:
    Statement window_;
};

Result<std::vector<RecordingWindow>> read_recording_windows(const Database& database);

} // namespace deepjit::trace
