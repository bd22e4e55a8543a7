#pragma once

#include "analyzers/frames.hpp"
#include "analyzers/gaps.hpp"
#include "analyzers/options.hpp"
#include "src/model/report.hpp"
#include "src/model/trace_data.hpp"

#include <vector>

namespace deepjit::analyzers {

/// What every analyzer may reason from. Facts about frames are of the track with most kernels among those
/// that have a period.
struct Evidence {
    const model::TraceData& trace;
    const AdviseOptions& options;
    const TrackFrames* frames = nullptr;          ///< null where no period was found
    const GapAnalysis* gaps = nullptr;            ///< null with frames
    const model::FrameSummary* summary = nullptr; ///< null with frames
    const std::vector<model::ChainAdvice>& chains;
};

} // namespace deepjit::analyzers
