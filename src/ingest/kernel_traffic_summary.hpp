#pragma once

#include <cstdint>
#include <string>

namespace deepjit::ingest {

/// Folder in a run folder with the recordings of a second run of the program, which measured memory traffic.
inline constexpr const char* kTrafficFolder = "traffic";

/// How far the figures of the second run could be joined to the kernels of the first.
struct TrafficSummary {
    bool asked_for = false;         ///< there was a second run
    bool timed_a_part = false;      ///< the first run recorded a part of the program, the second all of it
    std::uint32_t passes = 0;       ///< runs of a kernel that its figures took; 0 where nothing was measured
    int cupti_error = 0;            ///< CUptiResult of the first call that failed, 0 where none did
    std::string error_text;         ///< what failed, in one sentence; empty where nothing did
    std::int64_t timed_kernels = 0; ///< of the first run
    std::int64_t counted_kernels = 0;  ///< of the second run
    std::int64_t measured_kernels = 0; ///< of the second run, with figures that are certainly theirs
    std::int64_t matched_kernels = 0;  ///< of the first run that the second ran in the same place
    std::int64_t joined_kernels = 0;   ///< rows written
    bool has_dram = false;
    bool has_l2 = false;
};

} // namespace deepjit::ingest
