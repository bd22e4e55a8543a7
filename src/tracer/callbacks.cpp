#include "src/tracer/callbacks.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"
#include "src/tracer/watched_calls.hpp"

#include <cstring>

namespace deepjit::tracer {
namespace {

bool is_capturing(CUstream stream) noexcept {
    const auto query = session().driver.stream_is_capturing;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return query != nullptr && query(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// What of a launch call is needed here. The _ptsz twins have the same layout.
struct LaunchParameters {
    CUfunction function = nullptr;
    CUstream stream = nullptr;
    void* const* kernel_parameters = nullptr;
    void* const* extra = nullptr;
};

LaunchParameters launch_parameters(CallForm form, const void* raw) noexcept {
    if (form == CallForm::LaunchKernel) {
        const auto& call = *static_cast<const cuLaunchKernel_params*>(raw);
        return {call.f, call.hStream, call.kernelParams, call.extra};
    }
    if (form == CallForm::LaunchKernelEx) {
        const auto& call = *static_cast<const cuLaunchKernelEx_params*>(raw);
        return {call.f, call.config != nullptr ? call.config->hStream : nullptr, call.kernelParams,
                call.extra};
    }
    const auto& call = *static_cast<const cuLaunchCooperativeKernel_params*>(raw);
    return {call.f, call.hStream, call.kernelParams, nullptr};
}

bool is_kernel_launch(CallForm form) noexcept {
    return form == CallForm::LaunchKernel || form == CallForm::LaunchKernelEx ||
           form == CallForm::LaunchCooperativeKernel;
}

bool is_copy_or_fill(CallForm form) noexcept {
    return form == CallForm::Copy || form == CallForm::CopyFromPeer || form == CallForm::Fill;
}

void record_copy_addresses(const WatchedCall& call, const CUpti_CallbackData& data) noexcept {
    CUdeviceptr fields[3] = {};
    const std::size_t count = call.form == CallForm::Fill ? 1 : call.form == CallForm::Copy ? 2 : 3;
    std::memcpy(fields, data.functionParams, count * sizeof fields[0]);
    wire::CopyAddresses record;
    record.correlation_id = data.correlationId;
    record.destination = fields[0];
    record.source = fields[count - 1];
    if (call.form == CallForm::Fill) record.source = 0;
    recording().append(record);
}

void on_enter(ThreadState& state, const WatchedCall& call, const CUpti_CallbackData& data) noexcept {
    // An exit callback may be missing (the target left the call by longjmp): then start over.
    if (state.open_calls == ThreadState::kMaxOpenCalls) state.open_calls = 0;
    OpenCall& open = state.open_call[state.open_calls++];
    open = {};
    *data.correlationData = state.open_calls;
    open.may_be_captured = is_kernel_launch(call.form) || is_copy_or_fill(call.form);
    if (is_kernel_launch(call.form)) {
        const LaunchParameters launch = launch_parameters(call.form, data.functionParams);
        open.arguments_id =
            session().arguments.save(state, launch.function, launch.kernel_parameters, launch.extra);
        if (session().open_captures.load(std::memory_order_relaxed) != 0)
            open.capturing = is_capturing(launch.stream);
    }
    open.start_ns = now_ns(); // last, so that saving the arguments does not count as the call's own time
}

void on_exit(ThreadState& state, const WatchedCall& call, const CUpti_CallbackData& data) noexcept {
    const std::int64_t end_ns = now_ns();
    const std::uint64_t depth = *data.correlationData;
    if (depth == 0 || depth > ThreadState::kMaxOpenCalls) return recording().swallow_error();
    state.open_calls = static_cast<std::uint32_t>(depth - 1);
    const OpenCall& open = state.open_call[state.open_calls];
    const CUresult result = data.functionReturnValue != nullptr
                                ? *static_cast<const CUresult*>(data.functionReturnValue)
                                : CUDA_SUCCESS;

    wire::HostCall record;
    record.header.flags = open.capturing ? wire::HostCall::kCapturing : 0;
    record.api_id = static_cast<std::uint16_t>(call.id);
    record.result = static_cast<std::uint16_t>(result);
    record.correlation_id = data.correlationId;
    record.arguments_id = open.arguments_id;
    record.start_ns = open.start_ns;
    record.end_ns = end_ns;
    recording().append(record);

    auto& captures = session().open_captures;
    const bool is_launch = is_kernel_launch(call.form) || call.form == CallForm::GraphLaunch;
    if (is_launch && !open.capturing && result == CUDA_SUCCESS) increment(state.launches_called);
    if (call.form == CallForm::BeginCapture && result == CUDA_SUCCESS) captures.fetch_add(1);
    // A capture that was invalidated also ends here, with an error.
    if (call.form == CallForm::EndCapture && captures.load() != 0) captures.fetch_sub(1);
    if (is_copy_or_fill(call.form)) record_copy_addresses(call, data);
}

void on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept {
    const WatchedCall* const call = watched_call(id);
    ThreadState* const state = recording().thread_state();
    if (call == nullptr || state == nullptr) return recording().swallow_error();
    if (!session().driver_answered.load(std::memory_order_relaxed)) session().driver_answered.store(true);
    if (data.callbackSite == CUPTI_API_ENTER)
        on_enter(*state, *call, data);
    else
        on_exit(*state, *call, data);
}

std::uint64_t graph_node_id(CUgraphNode node) noexcept {
    const auto query = session().cupti.get_graph_node_id;
    std::uint64_t id = 0;
    return query != nullptr && node != nullptr && query(node, &id) == CUPTI_SUCCESS ? id : 0;
}

void on_graph_node_created(const CUpti_GraphData& data) noexcept {
    ThreadState* const state = recording().thread_state();
    // Created by a call that is being captured on this thread; a node added by hand is in no launch call.
    if (state == nullptr || state->open_calls == 0) return;
    OpenCall& open = state->open_call[state->open_calls - 1];
    if (!open.may_be_captured) return;
    open.capturing = true;
    if (data.nodeType != CU_GRAPH_NODE_TYPE_KERNEL || open.arguments_id == 0) return;
    wire::GraphNodeArguments record;
    record.graph_node_id = graph_node_id(data.node);
    record.arguments_id = open.arguments_id;
    if (record.graph_node_id != 0) recording().append(record);
}

void on_graph_node_cloned(const CUpti_GraphData& data) noexcept {
    if (data.nodeType != CU_GRAPH_NODE_TYPE_KERNEL) return;
    wire::GraphNodeClone record;
    record.graph_node_id = graph_node_id(data.node);
    record.original_node_id = graph_node_id(data.originalNode);
    if (record.graph_node_id != 0 && record.original_node_id != 0) recording().append(record);
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept {
    switch (id) {
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        return session().arguments.forget_functions();
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
        return on_graph_node_created(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
        return on_graph_node_cloned(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    default:
        return;
    }
}

} // namespace

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept {
    if (!recording().active() || data == nullptr) return;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        on_driver_call(id, *static_cast<const CUpti_CallbackData*>(data));
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
}

} // namespace deepjit::tracer
