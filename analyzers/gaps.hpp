#pragma once

#include "analyzers/busy_time.hpp"
#include "analyzers/frames.hpp"
#include "analyzers/options.hpp"
#include "src/model/report.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace deepjit::analyzers {

/// Idle time of the device before one of a frame's kernels.
struct Gap {
    Interval interval;
    model::GapCause cause = model::GapCause::Unknown;
    std::string blocker;         ///< Blocked only
    std::size_t next_kernel = 0; ///< index into TraceData::kernels of what ended the gap
    bool before_copy = false;    ///< a copy or memset ended the gap, no kernel
    bool between_frames = false;
    /// Between frames only: no longer than twice the frame's longest launch gap, so that the next frame is
    /// launched like any kernel and not after something that the host did.
    bool like_a_launch = false;
    double corrected_ns = 0; ///< without what the tracer added, at least 0

    /// Launch overhead: a faster launch would have removed it.
    bool is_exposed() const {
        if (between_frames && !like_a_launch) return false;
        return cause == model::GapCause::HostLate || cause == model::GapCause::DeviceLatency;
    }
};

/// Gaps of every frame, in order of frames.
struct GapAnalysis {
    std::vector<std::vector<Gap>> by_frame; ///< the gap before the next frame included, last
    /// Time from the end of a launch call to the start of its kernel on an idle device; derived from kernels
    /// launched after the device had drained. Negative: none were.
    double submit_latency_ns = -1;
};

/// Finds gaps and their causes. The rules, for a gap between the end of all earlier work and kernel k:
///  - Tracer: overhead records of CUPTI cover at least half of it.
///  - k came in the same graph launch as the kernel before it: DeviceLatency.
///  - the launch call of k was not recorded: Unknown.
///  - Blocked: after the work before it had ended, the launching thread was still in a synchronising call, or
///    spent at least half of the gap in copies, allocation, or loading of modules, or at least
///    `host_work_ns` in no call at all ("host work").
///  - HostLate: the launch began after the work before had ended, or k started as soon as its launch could
///    reach the device (submit_latency_ns, and a quarter more). The second matters because a host that
///    launches steadily but slower than the device works always begins the next launch before the last kernel
///    ends.
///  - otherwise DeviceLatency: the launch was there and the device took its time.
/// HostLate gaps before a launch in a stream shrink by calibration.tracer_launch_ns where that is known.
GapAnalysis find_gaps(const model::TraceData& trace, const TrackFrames& frames, const BusyTime& busy,
                      const AdviseOptions& options);

/// Sums by cause, divided by the number of frames; longest first.
std::vector<model::GapTotal> total_gaps(const GapAnalysis& gaps);

} // namespace deepjit::analyzers
