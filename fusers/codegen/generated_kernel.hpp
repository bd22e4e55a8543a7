#pragma once

#include "fusers/plan/fusion_plan.hpp"
#include "src/base/result.hpp"
#include "src/graph/dtype.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Turns a plan into CUDA C++ text. Pure: the same plan gives the same bytes.
namespace deepjit::codegen {

/// One `extern "C"` kernel of the module. All entries take the same parameters and compute the same values.
struct EntryPoint {
    std::string name;
    std::uint32_t grid_blocks = 1;   ///< x; y and z are 1
    std::uint32_t block_threads = 1; ///< x; y and z are 1
    /// The entry is usable when every pointer is a multiple of its parameter's `vector_alignment_bytes`;
    /// otherwise any address that suits the dtype will do.
    bool needs_vector_alignment = false;
};

/// A device pointer to `element_count` contiguous elements.
struct KernelParameter {
    std::string name; ///< the tensor's, an identifier unique in the kernel
    graph::DType dtype = graph::DType::Float32;
    bool is_output = false;
    graph::TensorIndex tensor = 0; ///< in the chain of the plan
    std::int64_t vector_alignment_bytes = 16;
};

struct GeneratedKernel {
    std::string name;   ///< the chain's
    std::string source; ///< self-contained: no includes, no options needed for correctness
    std::string chain_hash;
    std::vector<EntryPoint> entries;         ///< fastest first; the last one accepts any pointers
    std::vector<KernelParameter> parameters; ///< in launch order; there are no others
    std::int64_t element_count = 0;          ///< fixed in the source
    bool operands_may_alias = false;         ///< false: outputs must not overlap inputs
};

Result<GeneratedKernel> generate(const plan::FusionPlan& plan);

/// The first entry that may be launched with pointers of these values, in parameter order.
const EntryPoint& entry_for(const GeneratedKernel& kernel, const std::vector<std::uint64_t>& addresses);

} // namespace deepjit::codegen
