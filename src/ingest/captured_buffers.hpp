#pragma once

#include "src/trace/trace.hpp"
#include "src/wire/records.hpp"

#include <cstdint>
#include <filesystem>
#include <utility>

namespace deepjit::ingest {

/// What `profile --capture` saved.
struct CaptureSummary {
    bool asked_for = false; ///< for the caller to say: a recording without captures does not know
    std::int64_t launches = 0;
    std::int64_t buffers = 0;         ///< before and after the run together
    std::int64_t missing_buffers = 0; ///< of these, without contents
    std::int64_t bytes = 0;
};

/// Moves captured buffers from a run folder into the trace.
class CapturedBuffers {
  public:
    CapturedBuffers(trace::TraceWriter& trace, std::filesystem::path run_folder)
        : trace_(trace), run_folder_(std::move(run_folder)) {}

    void add(const wire::CapturedBuffer& record, std::uint32_t process_id);
    void add(const trace::CapturedLaunch& launch);
    const CaptureSummary& summary() const { return summary_; }

  private:
    trace::TraceWriter& trace_;
    std::filesystem::path run_folder_;
    CaptureSummary summary_;
};

} // namespace deepjit::ingest
