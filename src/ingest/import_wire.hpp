#pragma once

#include "src/base/result.hpp"
#include "src/ingest/captured_buffers.hpp"
#include "src/ingest/kernel_traffic_summary.hpp"
#include "src/ingest/module_images.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace deepjit::ingest {

/// What the parent knows about a run and the recording does not: entries of `meta` (trace::meta_key).
struct RunFacts {
    std::vector<std::pair<std::string, std::string>> meta;
};

/// What one process's tracer reported.
struct ProcessSummary {
    std::uint32_t process_id = 0;
    bool reached_cuda = true; ///< the driver loaded the tracer; false where only NVTX did
    bool cupti_opened = false;
    bool subscribed = false; ///< the tracer could watch the driver's calls
    bool driver_initialised = false;
    bool ended = false;               ///< it told its end; false where it was killed
    int cupti_error = 0;              ///< CUptiResult of the first call that failed, 0 where none did
    std::string error_text;           ///< what failed, in one sentence; empty where nothing did
    bool flush_hangs = false;         ///< CUPTI did not return from its last flush
    std::string write_error;          ///< why recording stopped early ("No space left on device"), else empty
    bool selects_part = false;        ///< only a part of the run was to be recorded
    bool recorded_to_the_end = true;  ///< a window was open when the recording ended
    std::int64_t windows = 0;         ///< parts of the run that were recorded
    bool reached_size_limit = false;  ///< recording stopped early for that reason
    std::int64_t recorded_for_ns = 0; ///< until recording stopped early, else 0
    std::int64_t launches_called = 0; ///< kernel and graph launches that were not captured
    std::int64_t launches_without_kernels = 0; ///< calls that succeeded
    std::int64_t launched_for_ns = 0;          ///< from its first recorded launch call to the end of its last
    std::int64_t kernels_recorded = 0;
    std::int64_t graph_launches = 0;  ///< recorded as a whole, without their kernels
    std::int64_t zero_timestamps = 0; ///< kernels whose time CUPTI could not take
    std::int64_t dropped_records = 0;
    std::int64_t lost_bytes = 0; ///< of its wire file, unreadable
};

/// It launched kernels, or could not be watched, and no record of any arrived. Not one that was killed before
/// any could arrive.
bool lost_its_records(const ProcessSummary& process);

/// Sums over all processes.
struct ImportSummary {
    std::vector<ProcessSummary> processes; ///< those that loaded the tracer, by process id
    bool driver_initialised = false;
    std::int64_t launches_called = 0;
    std::int64_t kernels_recorded = 0; ///< rows written
    std::int64_t graph_launches = 0;   ///< recorded as a whole, without their kernels
    ModuleImageSummary modules;
    TrafficSummary traffic;
    CaptureSummary capture;
    std::int64_t memory_ops = 0;
    std::int64_t host_calls = 0;
    std::int64_t zero_timestamps = 0;
    std::int64_t dropped_records = 0;
    std::int64_t lost_bytes = 0;
    std::int64_t unresolved_references = 0; ///< records dropped because what they refer to was lost
};

/// Reads every recording (*.djw) in `run_folder` and writes the trace `trace_path`. A damaged recording costs
/// what is damaged; one that is no recording at all is named in its ProcessSummary's error_text, and is an
/// error where it is all there is. A folder with no recordings gives a trace without processes: the target
/// never initialised the driver.
Result<ImportSummary> import_run_folder(const std::filesystem::path& run_folder,
                                        const std::filesystem::path& trace_path, const RunFacts& facts);

} // namespace deepjit::ingest
