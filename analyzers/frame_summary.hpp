#pragma once

#include "analyzers/busy_time.hpp"
#include "analyzers/frames.hpp"
#include "analyzers/gaps.hpp"

namespace deepjit::analyzers {

/// t, T, L and c of each frame, and their spread. With B gaps that were not exposed (blocked, tracer,
/// unknown, the one before the frame's first kernel among them), L = exposed time ÷ (K − B): the launches
/// whose cost can be seen. c is what remains of t, and so holds blocked time and what no gap accounts for.
model::FrameSummary summarise_frames(const model::TraceData& trace, const TrackFrames& frames,
                                     const GapAnalysis& gaps, const BusyTime& busy);

} // namespace deepjit::analyzers
