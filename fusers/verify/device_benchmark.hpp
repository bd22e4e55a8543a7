#pragma once

#include "fusers/verify/benchmark.hpp"
#include "fusers/verify/kernel_sequence.hpp"
#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/graph/chain_graph.hpp"

#include <functional>
#include <vector>

namespace deepjit::verify {

struct BenchmarkOptions {
    int calls_per_sample = 20;
    int rounds = 31; ///< samples of each way and L2 state
    /// After this long a state ends early, though not before there are enough samples for an interval.
    double seconds_per_state = 2.0;
};

/// Times originals and fused kernel four ways, cold and hot (see FourWay). A sample is the time between two
/// events around `calls_per_sample` calls, divided by them; in a graph all these calls are one graph. Inputs
/// and outputs rotate through buffer sets; the originals' intermediates are shared by all calls, as an
/// allocator that reuses addresses would.
Result<Benchmark> benchmark_four_ways(const gpu::Context& context, const graph::ChainGraph& chain,
                                      const KernelSequence& originals, const KernelSequence& fused,
                                      const BenchmarkOptions& options = {});

/// Graph time of one call of each sequence with a cold L2, interleaved: for choosing among variants.
Result<std::vector<Estimate>> time_variants(const gpu::Context& context, const graph::ChainGraph& chain,
                                            const std::vector<const KernelSequence*>& variants,
                                            const BenchmarkOptions& options = {});

} // namespace deepjit::verify
