#pragma once

#include "src/base/result.hpp"
#include "src/ingest/import_wire.hpp"

#include <cstdint>
#include <vector>

namespace deepjit::cli {

enum class RecordingState {
    Recorded,             ///< at least one kernel, or a graph as a whole
    DriverNotInitialised, ///< the target never used CUDA
    NothingSelected,      ///< only a part of the run was to be recorded, and it did not come to that
    NothingLaunched,      ///< it initialised the driver and launched no kernel
    CutOff,         ///< it was ended before its recording reached the disk; what it launched is not known
    RecordsMissing, ///< it launched kernels, or the tracer could not watch it, and no record arrived
};

struct RecordingOutcome {
    RecordingState state = RecordingState::Recorded;
    Diagnostic explanation;           ///< empty when Recorded
    std::vector<Diagnostic> warnings; ///< what the trace lacks: dropped records, lost bytes, missing times
};

/// What came of a recording, from what the tracers reported. `still_running` are the ids of processes that
/// had not ended when it was read.
RecordingOutcome judge_recording(const ingest::ImportSummary& summary,
                                 const std::vector<std::int64_t>& still_running = {});

/// What an import leaves out because these processes (0: id unknown) have not ended.
Diagnostic explain_running_processes(const std::vector<std::int64_t>& process_ids);

/// Why CUPTI gave no records, with the remedy. `cupti_result` is a CUptiResult (cupti_result.h of 13.0).
Diagnostic explain_missing_records(int cupti_result, const std::string& tracer_text);

} // namespace deepjit::cli
