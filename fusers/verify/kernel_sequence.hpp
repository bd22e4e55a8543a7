#pragma once

#include "fusers/codegen/generated_kernel.hpp"
#include "fusers/jit/kernel_cache.hpp"
#include "fusers/plan/fusion_plan.hpp"
#include "fusers/verify/original_side.hpp"
#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/gpu/stream.hpp"
#include "src/graph/chain_graph.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace deepjit::verify {

/// Device address of each tensor of a chain that lies in memory.
using TensorAddresses = std::map<graph::TensorIndex, std::uint64_t>;

/// Kernels on a device that together compute a chain: one fused, or one for each original.
class KernelSequence {
  public:
    static Result<KernelSequence> load_fused(const gpu::Context& context, const graph::ChainGraph& chain,
                                             const codegen::GeneratedKernel& kernel,
                                             const jit::CompiledKernel& compiled);

    /// Generates and compiles a kernel for each original with the default configuration.
    static Result<KernelSequence> build_originals(const gpu::Context& context, const graph::ChainGraph& chain,
                                                  jit::KernelCache& cache);

    KernelSequence(KernelSequence&&) noexcept;
    KernelSequence& operator=(KernelSequence&&) noexcept;
    ~KernelSequence();

    std::size_t launch_count() const;
    /// Tensors that the sequence needs memory for besides the chain's inputs and outputs.
    const std::vector<graph::TensorIndex>& scratch_tensors() const;

    /// Enqueues all launches; each picks its entry by the addresses.
    Result<void> enqueue(const gpu::Stream& stream, const TensorAddresses& addresses) const;

  private:
    struct Impl;
    explicit KernelSequence(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The request that everyone who compiles a generated kernel makes, so that the cache answers all of them.
jit::CompileRequest compile_request(const codegen::GeneratedKernel& kernel,
                                    const jit::Architecture& architecture);

} // namespace deepjit::verify
