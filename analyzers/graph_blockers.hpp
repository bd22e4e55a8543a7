#pragma once

#include "analyzers/frames.hpp"

#include <cstddef>
#include <string>

namespace deepjit::analyzers {

/// What keeps a CUDA Graph from holding the kernels [first, first + count) of a frame, by the representative
/// frame: a host call between their launches that synchronises, allocates, frees or loads a module, or a
/// pageable copy. Names it and where it stands, and the longest stretch that is free of such. Empty where
/// nothing was seen, and for kernels that are in a graph already.
std::string graph_blocker(const model::TraceData& trace, const TrackFrames& frames, std::size_t first,
                          std::size_t count);

} // namespace deepjit::analyzers
