#pragma once

#include "analyzers/busy_time.hpp"
#include "analyzers/options.hpp"
#include "analyzers/tracks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace deepjit::analyzers {

/// One iteration of a track's repeating work.
struct Frame {
    std::size_t first_item = 0;
    std::vector<std::size_t> kernels;          ///< indices into TraceData::kernels, in order of issue
    Interval span;                             ///< first kernel's start to last kernel's end
    std::optional<std::int64_t> next_start_ns; ///< first kernel of the next frame, where that follows at once
};

/// The frames of one track, all of the same sequence of items.
struct TrackFrames {
    Track track;
    std::size_t items_per_frame = 0;
    std::vector<Frame> frames;          ///< warm-up left out
    std::int64_t kernels_outside = 0;   ///< in no frame
    std::int64_t incomplete_frames = 0; ///< left out: their graphs lack kernels that those of the others have
    bool calls_recorded = true;         ///< false where the trace holds no launch call of this track at all
    std::string no_period_reason;       ///< one sentence where `frames` is empty

    std::size_t kernels_per_frame() const { return frames.empty() ? 0 : frames.front().kernels.size(); }
};

/// A sequence that repeats.
struct Period {
    std::size_t length = 0;
    std::size_t first = 0;   ///< where the longest regular stretch begins
    std::size_t covered = 0; ///< symbols in regular stretches
};

/// The period that explains most of the sequence; the shortest of equals. Candidates are the distances at
/// which symbols recur, so that extra symbols at the ends or between stretches do no harm. Absent where
/// nothing repeats `minimum_repeats` times in a row.
std::optional<Period> find_period(const std::vector<std::uint32_t>& symbols, std::int64_t minimum_repeats);

/// The kernel was launched by itself, and the trace holds no call that did it.
bool lost_its_call(const model::TraceData& trace, const trace::Kernel& kernel);

/// Frames begin after the host synchronised, or else after the cycle's longest idle time. Leading frames that
/// took more than twice the median are warm-up. A frame is left out where
/// work in it has no times, or where some of the track's launch calls are missing and its kernels need one.
TrackFrames find_frames(const model::TraceData& trace, Track track, const AdviseOptions& options);

/// The frame of median span.
const Frame& representative_frame(const TrackFrames& frames);

} // namespace deepjit::analyzers
