#pragma once

#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Decides whether and how a chain becomes one kernel. Pure: no GPU, no files.
namespace deepjit::plan {

/// What a tuner varies without changing what is computed.
struct Configuration {
    int block_threads = 256;       ///< a multiple of 32, at most 1024
    int vectors_per_thread = 1;    ///< groups of elements that one thread loads before it computes
    bool streaming_stores = false; ///< mark stored lines as first to evict (st.global.cs)
    /// Width of one vector access: 16 or 8. On an H200 the narrower one was never slower on float32 and
    /// bfloat16 and 3 % faster at 16 MB, where more and smaller blocks overlap loads with stores.
    int vector_bytes = 8;
    /// Elements of one thread in the entry for pointers that are not aligned to vectors.
    int scalar_elements_per_thread = 4;

    friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// The device figures that a plan depends on. The defaults are an H200's.
struct DeviceFacts {
    int multiprocessors = 132;
    int threads_per_multiprocessor = 2048;
    std::int64_t l2_bytes = 60ll << 20;
};

struct PlanOptions {
    Configuration configuration;
    /// Callers may pass an output that overlaps an input exactly (in-place). Drops `__restrict__`.
    bool operands_may_alias = false;
};

/// A tensor that the kernel reads or writes in memory.
struct Operand {
    graph::TensorIndex tensor = 0;
    bool is_output = false;
    int access_bytes = 0; ///< width of one vector access; the address must be a multiple of it
};

/// One elementwise kernel: thread t computes `group_elements` adjacent elements.
struct FusionPlan {
    graph::ChainGraph chain; ///< as computed: in `wide` rounding without the RoundTos that are dropped
    std::string chain_hash;  ///< of the chain as given
    std::int64_t element_count = 0;
    int group_elements = 1;        ///< elements that one vector step of a thread covers, for every operand
    std::vector<Operand> operands; ///< in launch order: the chain's inputs, then its outputs
    bool index_64_bit = false;     ///< element indices exceed 32 bits
    PlanOptions options;
};

/// Refuses, by op or tensor name, what cannot become one elementwise kernel.
Result<FusionPlan> plan_fusion(const graph::ChainGraph& chain, const PlanOptions& options = {});

/// Configurations worth timing for this chain on this device, the likeliest first. Never empty.
std::vector<Configuration> candidate_configurations(const graph::ChainGraph& chain,
                                                    const DeviceFacts& device = {});

} // namespace deepjit::plan
