#pragma once

#include "analyzers/busy_time.hpp"
#include "analyzers/frames.hpp"
#include "analyzers/launch_exposure.hpp"

namespace deepjit::analyzers {

/// t, T, K·L, L and c of the frames, and their spread. K·L is the launch exposure of all of a frame's kernels
/// and L a K-th part of it. c is what remains of t: blocked time, and all that no exposed gap accounts for.
model::FrameSummary summarise_frames(const model::TraceData& trace, const TrackFrames& frames,
                                     const LaunchExposure& exposure, const BusyTime& busy);

} // namespace deepjit::analyzers
