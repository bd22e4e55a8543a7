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

enum class GateScope {
    /// All cases at one size: the chain's own, or kScreeningElements where that is above kFullSizeElements
    /// (then
    /// the same configuration is generated for that size). What a variant needs before it may be timed.
    Screening,
    /// All cases at the chain's own size (above kFullSizeElements: the random ones, shifted and not, there,
    /// and
    /// all of them at kScreeningElements), and the same configuration generated for odd lengths. What a
    /// kernel
    /// needs before it is emitted.
    Full,
};

/// The largest chain that runs every case at its own size.
inline constexpr std::int64_t kFullSizeElements = 1 << 22;
inline constexpr std::int64_t kScreeningElements = (1 << 19) + 1;

/// Runs the numeric gate on the context's device for each candidate. Inputs are uploaded and the originals
/// run once for all candidates. An error means that no verdict could be reached: a kernel that faults takes
/// the context and so every other candidate with it (kind Verification, naming the case).
Result<std::vector<Verification>> verify_on_device(const gpu::Context& context,
                                                   const graph::ChainGraph& chain,
                                                   const std::vector<Candidate>& candidates,
                                                   const KernelSequence& originals, jit::KernelCache& cache,
                                                   GateScope scope);

} // namespace deepjit::verify
