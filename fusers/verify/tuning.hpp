#pragma once

#include "fusers/verify/benchmark.hpp"
#include "fusers/verify/device_verification.hpp"
#include "fusers/verify/experiments_log.hpp"
#include "fusers/verify/verification.hpp"
#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/graph/chain_graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace deepjit::verify {

struct TuningOptions {
    bool tune = true; ///< false: only the first configuration is compiled, verified and timed
    std::vector<plan::Configuration> configurations;  ///< empty: those that the planner proposes
    std::function<void(const std::string&)> progress; ///< a sentence for people now and then; may be empty
};

/// The kernel to emit and what was found out about it.
struct TunedKernel {
    Candidate chosen;
    Verification verification;
    Benchmark benchmark; ///< not measured without a passed verdict
};

/// Compiles each configuration, screens all that compiled without local memory, times those that passed, and
/// takes the fastest that also passes the full gate; a later configuration must beat an earlier one by
/// separated intervals. When none passes, `chosen` is the last that was judged and its verdict says why.
/// Errors: no configuration compiles, or the device could not be used. `experiments` receives a row for each
/// configuration, also after an error.
Result<TunedKernel> tune_on_device(const gpu::Context& context, const graph::ChainGraph& chain,
                                   jit::KernelCache& cache, const TuningOptions& options,
                                   std::vector<Experiment>& experiments);

/// The first configuration compiled for `architecture`, neither verified nor timed: `reason` says why not.
Result<TunedKernel> compile_only(const graph::ChainGraph& chain, const jit::Architecture& architecture,
                                 jit::KernelCache& cache, const std::string& reason,
                                 std::vector<Experiment>& experiments);

/// "block 256, 2 vectors a thread, streaming stores"
std::string describe(const plan::Configuration& configuration);

} // namespace deepjit::verify
