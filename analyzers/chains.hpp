#pragma once

#include "analyzers/accesses.hpp"
#include "analyzers/frames.hpp"
#include "analyzers/options.hpp"
#include "src/model/chain.hpp"

#include <cstddef>
#include <vector>

namespace deepjit::analyzers {

/// A chain and where it stands in its track's frames.
struct FoundChain {
    model::Chain chain;
    std::size_t first_position = 0; ///< of its first step among a frame's kernels
};

/// Serial chains of short kernels: neighbours on one stream within one frame, each shorter than
/// `short_kernel_ns` (median over frames), cut at library kernels (GEMM, convolution, attention,
/// collectives), copies, host synchronisation and the borders of a graph launch, and wherever nothing before
/// the cut is needed after it. Two steps at least. Written buffers and escapes are filled in by
/// find_escapes(), numbers by advise().
std::vector<FoundChain> find_chains(const model::TraceData& trace, const TrackFrames& frames,
                                    const Accesses& accesses, const AdviseOptions& options);

/// Whether the use `later` is handed what the use `earlier` wrote, for certain or perhaps.
model::Dependence flow_between(const model::BufferUse& earlier, const model::BufferUse& later);

} // namespace deepjit::analyzers
