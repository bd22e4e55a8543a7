#pragma once

#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"
#include "src/model/chain.hpp"
#include "src/trace/trace.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Reads recorded launches as ops of the chain IR.
namespace deepjit::lift {

/// One launch of the chain as the trace recorded it.
struct ObservedLaunch {
    std::string kernel_name; ///< demangled
    trace::Arguments arguments;
    std::vector<model::BufferUse> buffers; ///< the pointers among the arguments, where somebody found them
};

/// A buffer that the chain writes, by the address passed to the launch.
struct ObservedWrite {
    std::uint64_t address = 0;
    bool escapes = true; ///< something outside the chain may read it
    std::string reason;
};

/// Where a tensor of the chain lay in the recorded program.
struct TensorBinding {
    graph::TensorIndex tensor = 0;
    std::uint64_t address = 0;
};

struct LiftedChain {
    graph::ChainGraph chain;
    std::vector<TensorBinding> bindings; ///< of every Input and Output, and of stored Intermediates
    std::vector<graph::TensorIndex> scalars_from_arguments; ///< Constants read from argument bytes
    int open_ops = 0; ///< kernels that stay Open ops, each with its reason
};

/// Lifts launches in execution order. Kernels that cannot be lifted become Open ops; that is no error.
Result<LiftedChain> lift_launches(const std::string& name, const std::vector<ObservedLaunch>& launches,
                                  const std::vector<ObservedWrite>& writes, std::int64_t frames_observed);

/// The same for a chain that the advisor found: reads the arguments of its representative frame and refuses a
/// chain whose scalars differ from frame to frame.
Result<LiftedChain> lift_chain(const trace::Trace& trace, const model::Chain& chain, const std::string& name);

} // namespace deepjit::lift
