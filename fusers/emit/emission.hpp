#pragma once

#include "fusers/codegen/generated_kernel.hpp"
#include "fusers/emit/emitted_folder.hpp"
#include "fusers/verify/benchmark.hpp"
#include "fusers/verify/verification.hpp"
#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"

#include <string>
#include <vector>

/// Everything an emitted folder holds, as text. Pure.
namespace deepjit::emit {

/// One compiled form of the kernel.
struct DeviceImage {
    int compute_capability = 0; ///< 90 for sm_90
    std::string cubin;
};

struct Emission {
    std::string name; ///< emitted_name()
    graph::ChainGraph chain;
    codegen::GeneratedKernel kernel;
    std::vector<DeviceImage> images; ///< by ascending capability, at least one
    int ptx_capability = 0;          ///< 0: no PTX
    std::string ptx;
    verify::Verification verification;
    verify::Benchmark benchmark;
};

/// A name that is an identifier and no keyword of C, C++, Python or CMake target of its own: `wanted` with
/// other characters replaced, and `_kernel` behind it where it would be a keyword.
std::string emitted_name(std::string_view wanted);

/// All files but manifest.json.
Result<std::vector<EmittedFile>> emitted_files(const Emission& emission);

/// The folder's files for a chain with Open ops: only the chain, for a person to fill in.
std::vector<EmittedFile> unfinished_files(const graph::ChainGraph& chain);

} // namespace deepjit::emit
