#pragma once

#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"

#include <string>

namespace deepjit::cli {

/// Says which kernels of the chain are Open ops and why, equal reasons together: "kernels 1 and 3 to 16: …".
/// Kernels are counted as they were launched, from 1. `chain_file` holds the chain; `next_command` is what to
/// run when it has been completed. The chain has at least one Open op.
Diagnostic open_ops_refusal(const graph::ChainGraph& chain, const std::string& chain_file,
                            const std::string& next_command);

} // namespace deepjit::cli
