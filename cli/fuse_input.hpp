#pragma once

#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace deepjit::cli {

struct FuseInput {
    graph::ChainGraph chain;
    std::string default_name; ///< where `--name` says nothing
    bool from_trace = false;
};

/// Reads the chain to fuse from a trace or a chain.json, told apart by content. A trace needs `chain_number`,
/// and an unknown one is refused (Usage) with the list of chains there are. Which chains a trace holds rests
/// on `short_kernel_ns`, as in `advise`.
Result<FuseInput> read_fuse_input(const std::filesystem::path& path, std::optional<int> chain_number,
                                  double short_kernel_ns);

} // namespace deepjit::cli
