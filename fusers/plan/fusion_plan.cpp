#include "fusers/plan/fusion_plan.hpp"

#include "fusers/plan/wide_rounding.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace deepjit::plan {
namespace {

using graph::ChainGraph;
using graph::DType;
using graph::Tensor;
using graph::TensorRole;

/// The kernel's parameter space is 4 KiB on every architecture.
constexpr std::size_t kMostOperands = 480;
constexpr std::int64_t kMostGridBlocks = std::numeric_limits<std::int32_t>::max();

bool lies_in_memory(const Tensor& tensor) {
    return tensor.role == TensorRole::Input || tensor.role == TensorRole::Output;
}

bool has_memory_dtype(const Tensor& tensor) {
    return tensor.dtype == DType::Float32 || tensor.dtype == DType::Float16 ||
           tensor.dtype == DType::BFloat16;
}

bool is_contiguous(const Tensor& tensor) {
    if (tensor.strides.empty()) return true;
    std::int64_t expected = 1;
    for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
        if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
        expected *= tensor.shape[axis];
    }
    return true;
}

Diagnostic open_op_refusal(const ChainGraph& chain) {
    std::vector<std::string> open;
    const graph::Op* first = nullptr;
    for (const auto& op : chain.ops) {
        if (!op.is_open()) continue;
        if (first == nullptr) first = &op;
        open.push_back(elide_middle(printable(op.source), 120));
    }
    return failure(
        fmt::format("{} of the {} ops of '{}' could not be lifted; the first is the kernel '{}'.",
                    open.size(), chain.ops.size(), chain.name, open.front()),
        printable(first->reason),
        "Replace each Open op in chain.json by the ops that the kernel computes, and run `deepjit fuse "
        "chain.json --emit DIR`.");
}

Result<void> check_operand(const ChainGraph& chain, const Tensor& tensor, const Tensor& first) {
    const std::string name = printable(tensor.name);
    if (!has_memory_dtype(tensor))
        return failure(fmt::format("'{}' is {}; only float32, float16 and bfloat16 tensors can be fused.",
                                   name, graph::name_of(tensor.dtype)));
    if (tensor.shape != first.shape)
        return failure(
            fmt::format("'{}' has the shape [{}], but '{}' has [{}]; only chains of one shape can be fused.",
                        name, fmt::join(tensor.shape, ", "), printable(first.name),
                        fmt::join(first.shape, ", ")),
            fmt::format("In the chain '{}'.", chain.name));
    if (!is_contiguous(tensor))
        return failure(fmt::format("'{}' has the strides [{}]; only contiguous tensors can be fused.", name,
                                   fmt::join(tensor.strides, ", ")));
    return {};
}

Result<void> check_inner_tensors(const ChainGraph& chain) {
    for (const Tensor& tensor : chain.tensors) {
        if (tensor.role == TensorRole::Constant && tensor.values.size() != 1)
            return failure(fmt::format("The constant '{}' has {} values; only scalars can be fused.",
                                       printable(tensor.name), tensor.values.size()));
        if (!lies_in_memory(tensor) && tensor.dtype != DType::Bool && !has_memory_dtype(tensor))
            return failure(
                fmt::format("'{}' is {}; only float32, float16, bfloat16 and bool values can be fused.",
                            printable(tensor.name), graph::name_of(tensor.dtype)));
    }
    return {};
}

Result<void> check_configuration(const Configuration& configuration) {
    if (configuration.block_threads < 32 || configuration.block_threads > 1024 ||
        configuration.block_threads % 32 != 0)
        return failure(fmt::format("A block of {} threads is not a multiple of 32 from 32 to 1024.",
                                   configuration.block_threads));
    if (configuration.vectors_per_thread < 1 || configuration.vectors_per_thread > 16)
        return failure(
            fmt::format("{} vectors per thread are not between 1 and 16.", configuration.vectors_per_thread));
    if (configuration.vector_bytes != 8 && configuration.vector_bytes != 16)
        return failure(fmt::format("Vectors of {} bytes are neither 8 nor 16.", configuration.vector_bytes));
    if (configuration.scalar_elements_per_thread < 1 || configuration.scalar_elements_per_thread > 64)
        return failure(fmt::format("{} scalar elements per thread are not between 1 and 64.",
                                   configuration.scalar_elements_per_thread));
    return {};
}

/// Elements that make the narrowest operand's access `vector_bytes` wide. Wider operands take several
/// accesses.
int group_elements_of(const ChainGraph& chain, int vector_bytes) {
    std::size_t narrowest = 4;
    for (const Tensor& tensor : chain.tensors)
        if (lies_in_memory(tensor)) narrowest = std::min(narrowest, graph::size_bytes(tensor.dtype));
    return vector_bytes / static_cast<int>(narrowest);
}

Result<const Tensor*> first_operand(const ChainGraph& chain) {
    if (chain.outputs.empty()) return failure(fmt::format("The chain '{}' has no output.", chain.name));
    if (chain.inputs.size() + chain.outputs.size() > kMostOperands)
        return failure(fmt::format("The chain '{}' has {} inputs and outputs; a kernel takes at most {}.",
                                   chain.name, chain.inputs.size() + chain.outputs.size(), kMostOperands));
    return &chain.tensor(chain.inputs.empty() ? chain.outputs[0] : chain.inputs[0]);
}

} // namespace

Result<FusionPlan> plan_fusion(const ChainGraph& chain, const PlanOptions& options) {
    DEEPJIT_CHECK(graph::validate(chain));
    DEEPJIT_CHECK(check_configuration(options.configuration));
    if (std::any_of(chain.ops.begin(), chain.ops.end(), [](const auto& op) { return op.is_open(); }))
        return open_op_refusal(chain);
    DEEPJIT_TRY(const Tensor* const first, first_operand(chain));
    for (const Tensor& tensor : chain.tensors)
        if (lies_in_memory(tensor)) DEEPJIT_CHECK(check_operand(chain, tensor, *first));
    DEEPJIT_CHECK(check_inner_tensors(chain));

    FusionPlan plan;
    plan.chain_hash = graph::hash_of(chain);
    plan.chain = chain.rounding == graph::Rounding::Wide ? without_droppable_rounding(chain) : chain;
    plan.options = options;
    plan.element_count = first->element_count();
    if (plan.element_count == 0)
        return failure(fmt::format("The tensors of '{}' are empty; there is nothing to fuse.", chain.name));
    if (plan.element_count / options.configuration.block_threads >= kMostGridBlocks)
        return failure(fmt::format("{} elements need more blocks than a grid can have.", plan.element_count));
    plan.group_elements = group_elements_of(chain, options.configuration.vector_bytes);
    const auto add_operand = [&](graph::TensorIndex index, bool is_output) {
        plan.operands.push_back({index, is_output, options.configuration.vector_bytes});
    };
    for (const auto index : plan.chain.inputs)
        add_operand(index, false);
    for (const auto index : plan.chain.outputs)
        add_operand(index, true);
    // The last block may reach beyond the end by a block's elements before it is cut off.
    const std::int64_t slack = std::int64_t{options.configuration.block_threads} *
                               options.configuration.vectors_per_thread * plan.group_elements;
    plan.index_64_bit = plan.element_count + slack > std::numeric_limits<std::uint32_t>::max();
    return plan;
}

std::vector<Configuration> candidate_configurations(const ChainGraph& chain, const DeviceFacts& device) {
    std::int64_t bytes = 0;
    std::int64_t count = 1;
    for (const Tensor& tensor : chain.tensors) {
        if (!lies_in_memory(tensor)) continue;
        count = tensor.element_count();
        bytes += count * static_cast<std::int64_t>(graph::size_bytes(tensor.dtype));
    }
    const std::int64_t groups = std::max<std::int64_t>(1, count / group_elements_of(chain, 16));
    // What is far larger than L2 cannot be found there by the next kernel, so it need not displace the rest.
    const bool stream_first = bytes > 2 * device.l2_bytes;
    const std::int64_t resident_threads =
        std::int64_t{device.multiprocessors} * device.threads_per_multiprocessor;

    std::vector<Configuration> candidates;
    for (const bool streaming : {stream_first, !stream_first})
        for (const auto& [vectors, vector_bytes] : {std::pair{1, 8}, {1, 16}, {2, 16}, {4, 16}}) {
            // Fewer threads than the device holds leave bandwidth unused.
            if (vectors > 1 && groups / vectors < resident_threads / 2) continue;
            for (const int block : {256, 128, 512, 1024})
                candidates.push_back({.block_threads = block,
                                      .vectors_per_thread = vectors,
                                      .streaming_stores = streaming,
                                      .vector_bytes = vector_bytes});
        }
    return candidates;
}

} // namespace deepjit::plan
