#include "src/tracer/graph_calls.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/copy_addresses.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

namespace deepjit::tracer {
namespace {

/// What a call says that a node holds: a kernel launch, a copy, or neither (other kinds of nodes).
struct NodeContents {
    const CUDA_KERNEL_NODE_PARAMS* kernel = nullptr;
    bool has_library_kernel = false; ///< `kernel` has the field `kern`, which version 1 lacks
    const CUDA_MEMCPY3D* copy = nullptr;
};

NodeContents contents_of(const CUgraphNodeParams* node) noexcept {
    NodeContents contents;
    if (node == nullptr) return contents;
    // Version 3 of the kernel parameters begins with the fields of version 2.
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        contents.kernel = reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS*>(&node->kernel);
        contents.has_library_kernel = true;
    } else if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        contents.copy = &node->memcpy.copyParams;
    }
    return contents;
}

NodeContents kernel_contents(const void* parameters, bool has_library_kernel) noexcept {
    return {static_cast<const CUDA_KERNEL_NODE_PARAMS*>(parameters), has_library_kernel, nullptr};
}

NodeContents copy_contents(const CUDA_MEMCPY3D* copy) noexcept {
    return {nullptr, false, copy};
}

NodeContents contents_of(CUpti_CallbackId id, const void* raw) noexcept {
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode:
        return kernel_contents(static_cast<const cuGraphAddKernelNode_params*>(raw)->nodeParams, false);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2:
        return kernel_contents(static_cast<const cuGraphAddKernelNode_v2_params*>(raw)->nodeParams, true);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams:
        return kernel_contents(static_cast<const cuGraphKernelNodeSetParams_params*>(raw)->nodeParams, false);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2:
        return kernel_contents(static_cast<const cuGraphKernelNodeSetParams_v2_params*>(raw)->nodeParams,
                               true);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
        return kernel_contents(static_cast<const cuGraphExecKernelNodeSetParams_params*>(raw)->nodeParams,
                               false);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
        return kernel_contents(static_cast<const cuGraphExecKernelNodeSetParams_v2_params*>(raw)->nodeParams,
                               true);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemcpyNode:
        return copy_contents(static_cast<const cuGraphAddMemcpyNode_params*>(raw)->copyParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphMemcpyNodeSetParams:
        return copy_contents(static_cast<const cuGraphMemcpyNodeSetParams_params*>(raw)->nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams:
        return copy_contents(static_cast<const cuGraphExecMemcpyNodeSetParams_params*>(raw)->copyParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode:
        return contents_of(static_cast<const cuGraphAddNode_params*>(raw)->nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2:
        return contents_of(static_cast<const cuGraphAddNode_v2_params*>(raw)->nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams:
        return contents_of(static_cast<const cuGraphNodeSetParams_params*>(raw)->nodeParams);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
        return contents_of(static_cast<const cuGraphExecNodeSetParams_params*>(raw)->nodeParams);
    default:
        return {};
    }
}

std::uint64_t graph_node_id(CUgraphNode node) noexcept {
    const auto query = session().cupti.get_graph_node_id;
    std::uint64_t id = 0;
    return query != nullptr && node != nullptr && query(node, &id) == CUPTI_SUCCESS ? id : 0;
}

std::uint32_t graph_exec_id(CUgraphExec graph) noexcept {
    const auto query = session().cupti.get_graph_exec_id;
    std::uint32_t id = 0;
    return query != nullptr && graph != nullptr && query(graph, &id) == CUPTI_SUCCESS ? id : 0;
}

/// Defined rather than appended: the order of these records over all threads is what they mean.
void record_contents(std::uint64_t node_id, const OpenCall& open) noexcept {
    if (node_id == 0) return;
    if (open.arguments_id != 0) {
        wire::GraphNodeArguments record;
        record.graph_node_id = node_id;
        record.arguments_id = open.arguments_id;
        recording().define(record);
    }
    if (open.copy_source != 0 || open.copy_destination != 0) {
        wire::GraphNodeCopyAddresses record;
        record.graph_node_id = node_id;
        record.source = open.copy_source;
        record.destination = open.copy_destination;
        recording().define(record);
    }
}

void record_update(std::uint64_t exec_node_id, std::uint64_t source_node_id,
                   std::uint32_t arguments_id) noexcept {
    if (exec_node_id == 0) return;
    wire::GraphNodeUpdate record;
    record.graph_node_id = exec_node_id;
    record.source_node_id = source_node_id;
    record.arguments_id = arguments_id;
    record.time_ns = now_ns();
    recording().define(record);
}

/// The call of this thread that is open, or null.
OpenCall* innermost_call() noexcept {
    ThreadState* const state = recording().thread_state();
    if (state == nullptr || state->open_calls == 0) return nullptr;
    return &state->open_call[state->open_calls - 1];
}

} // namespace

void on_graph_call_begins(ThreadState& state, OpenCall& open, const WatchedCall& call,
                          const void* raw) noexcept {
    open.changes_node = call.form != CallForm::UpdateExecGraph;
    const NodeContents contents = contents_of(call.id, raw);
    if (contents.kernel != nullptr) {
        const CUDA_KERNEL_NODE_PARAMS& kernel = *contents.kernel;
        CUfunction function = kernel.func;
        if (function == nullptr && contents.has_library_kernel)
            function = reinterpret_cast<CUfunction>(kernel.kern);
        if (function != nullptr)
            open.arguments_id = session().arguments.save(state, function, kernel.kernelParams, kernel.extra);
    } else if (contents.copy != nullptr) {
        const CopyAddresses addresses = copy_addresses(*contents.copy);
        open.copy_source = addresses.source;
        open.copy_destination = addresses.destination;
    }
}

void on_graph_call_succeeded(const OpenCall& open, const WatchedCall& call, const void* raw) noexcept {
    if (call.form == CallForm::SetGraphNode)
        return record_contents(graph_node_id(*static_cast<const CUgraphNode*>(raw)), open);
    const bool changes_executable =
        call.form == CallForm::SetExecNode || call.form == CallForm::UpdateExecGraph;
    if (!changes_executable || session().tells_exec_updates) return;
    wire::GraphExecUpdate record;
    record.graph_id = graph_exec_id(*static_cast<const CUgraphExec*>(raw));
    record.time_ns = now_ns();
    recording().define(record);
}

void on_graph_node_created(const CUpti_GraphData& data) noexcept {
    OpenCall* const open = innermost_call();
    if (open == nullptr) return;
    if (open->may_be_captured) open->capturing = true;
    if (open->may_be_captured || open->changes_node) record_contents(graph_node_id(data.node), *open);
}

void on_graph_node_cloned(const CUpti_GraphData& data) noexcept {
    // Of all types: CUPTI 13.0 calls every node a kernel node here.
    wire::GraphNodeClone record;
    record.graph_node_id = graph_node_id(data.node);
    record.original_node_id = graph_node_id(data.originalNode);
    if (record.graph_node_id != 0 && record.original_node_id != 0) recording().define(record);
}

void on_exec_node_updated(const CUpti_GraphData& data) noexcept {
    record_update(graph_node_id(data.originalNode), graph_node_id(data.node), 0);
}

void on_exec_node_set(const CUpti_GraphData& data) noexcept {
    // It also follows on_exec_node_updated(); then the open call is not one that changes a node itself.
    const OpenCall* const open = innermost_call();
    if (open != nullptr && open->changes_node) record_update(graph_node_id(data.node), 0, open->arguments_id);
}

} // namespace deepjit::tracer
