#pragma once

#include "fusers/verify/kernel_sequence.hpp"
#include "fusers/verify/verification.hpp"
#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/graph/chain_graph.hpp"

#include <vector>

namespace deepjit::verify {

/// A fused kernel that waits for its verdict.
struct Candidate {
    plan::Configuration configuration;
    codegen::GeneratedKernel kernel;
    jit::CompiledKernel compiled;
};

/// Runs the numeric gate on the context's device for each candidate: all test cases at the chain's own size
/// (above kFullSizeElements: the random ones, shifted and not), and the same configuration generated for odd
/// lengths. Inputs are uploaded once for all candidates. An error means that no verdict could be reached at
/// all; a kernel that fails, faults or does not compile at an odd length has the verdict Failed.
Result<std::vector<Verification>> verify_on_device(const gpu::Context& context,
                                                   const graph::ChainGraph& chain,
                                                   const std::vector<Candidate>& candidates,
                                                   const KernelSequence& originals, jit::KernelCache& cache);

/// The largest chain that runs every case at its own size.
inline constexpr std::int64_t kFullSizeElements = 1 << 22;

} // namespace deepjit::verify
