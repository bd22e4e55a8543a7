#pragma once

#include "analyzers/frames.hpp"
#include "analyzers/gaps.hpp"

#include <cstddef>
#include <vector>

namespace deepjit::analyzers {

/// Exposed launch time of a track's frames: the one figure behind K·L of the frame, of its chains and of
/// every verdict. An exposed gap belongs to the kernel that ends it, so that a chain's figure holds the gap
/// before its first kernel. The one before the frame's first kernel counts where that is launched like any
/// other (Gap::like_a_launch). Blocked, tracer and unknown gaps, and gaps that another stream's work ends,
/// are in none of it.
struct LaunchExposure {
    /// By place in the frame: its part of the median over frames of all places together, in proportion to the
    /// medians over the frames that show the place (to the means where those are all zero). The figure of a
    /// stretch is the sum over its places, so that a frame's is exactly that of its chains and the rest.
    std::vector<double> traced_ns;
    std::vector<double> corrected_ns; ///< without the tracer's cost
    /// By frame: all places together, with the median for a first place that the frame does not show.
    std::vector<double> frame_traced_ns;
    std::vector<double> frame_corrected_ns;

    /// Of the kernels [first, first + count) of a frame.
    double corrected_within(std::size_t first, std::size_t count) const;
    double traced_within(std::size_t first, std::size_t count) const;
};

LaunchExposure launch_exposure(const TrackFrames& frames, const GapAnalysis& gaps);

} // namespace deepjit::analyzers
