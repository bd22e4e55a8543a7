#include "src/tracer/callbacks.hpp"

#include "src/tracer/buffer_capture.hpp"
#include "src/tracer/clock.hpp"
#include "src/tracer/copy_addresses.hpp"
#include "src/tracer/counters.hpp"
#include "src/tracer/graph_calls.hpp"
#include "src/tracer/module_calls.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/recording_window.hpp"
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
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
};

LaunchParameters launch_parameters(CallForm form, const void* raw) noexcept {
    if (form == CallForm::LaunchKernel) {
        const auto& call = *static_cast<const cuLaunchKernel_params*>(raw);
        return {call.f,
                call.hStream,
                call.kernelParams,
                call.extra,
                {call.gridDimX, call.gridDimY, call.gridDimZ},
                {call.blockDimX, call.blockDimY, call.blockDimZ}};
    }
    if (form == CallForm::LaunchKernelEx) {
        const auto& call = *static_cast<const cuLaunchKernelEx_params*>(raw);
        if (call.config == nullptr) return {call.f, nullptr, call.kernelParams, call.extra, {}, {}};
        const CUlaunchConfig& config = *call.config;
        return {call.f,
                config.hStream,
                call.kernelParams,
                call.extra,
                {config.gridDimX, config.gridDimY, config.gridDimZ},
                {config.blockDimX, config.blockDimY, config.blockDimZ}};
    }
    const auto& call = *static_cast<const cuLaunchCooperativeKernel_params*>(raw);
    return {call.f,
            call.hStream,
            call.kernelParams,
            nullptr,
            {call.gridDimX, call.gridDimY, call.gridDimZ},
            {call.blockDimX, call.blockDimY, call.blockDimZ}};
}

bool is_kernel_launch(CallForm form) noexcept {
    return form == CallForm::LaunchKernel || form == CallForm::LaunchKernelEx ||
           form == CallForm::LaunchCooperativeKernel;
}

/// The device that a stream belongs to, as CUPTI numbers it in kernel records.
bool device_of(CUstream stream, std::uint32_t& device_id) noexcept {
    const auto context_of = session().driver.stream_get_ctx;
    const auto id_of = session().cupti.get_device_id;
    CUcontext context = nullptr;
    return context_of != nullptr && id_of != nullptr && context_of(stream, &context) == CUDA_SUCCESS &&
           id_of(context, &device_id) == CUPTI_SUCCESS;
}

void record_device_launches(ThreadState& state, const CUpti_CallbackData& data) noexcept {
    const auto& call = *static_cast<const cuLaunchCooperativeKernelMultiDevice_params*>(data.functionParams);
    for (unsigned int i = 0; call.launchParamsList != nullptr && i < call.numDevices; ++i) {
        const CUDA_LAUNCH_PARAMS& launch = call.launchParamsList[i];
        wire::DeviceLaunch record;
        std::uint32_t device_id = 0;
        if (!device_of(launch.hStream, device_id)) continue;
        record.correlation_id = data.correlationId;
        record.device_id = device_id;
        record.arguments_id = session().arguments.save(state, launch.function, launch.kernelParams, nullptr);
        recording().append(record);
    }
}

bool is_copy_or_fill(CallForm form) noexcept {
    return (form >= CallForm::Copy && form <= CallForm::Fill) ||
           (form >= CallForm::Copy2D && form <= CallForm::CopyBatch);
}

bool runs_kernels(CallForm form) noexcept {
    return is_kernel_launch(form) || form == CallForm::GraphLaunch || form == CallForm::LaunchOnDevices;
}

bool changes_graph(CallForm form) noexcept {
    return form >= CallForm::AddGraphNode && form <= CallForm::UpdateExecGraph;
}

void tell_capture(const ThreadState& state, const OpenCall& open, const LaunchParameters& launch,
                  const CUpti_CallbackData& data) noexcept {
    CaptureLaunch seen;
    seen.mangled_name = data.symbolName;
    std::memcpy(seen.grid, launch.grid, sizeof seen.grid);
    std::memcpy(seen.block, launch.block, sizeof seen.block);
    seen.stream = launch.stream;
    seen.correlation_id = data.correlationId;
    seen.arguments_id = open.arguments_id;
    seen.arguments = {reinterpret_cast<const char*>(state.argument_bytes), state.argument_bytes_used};
    buffer_capture().on_launch_begins(seen);
}

void on_enter(ThreadState& state, const WatchedCall& call, const CUpti_CallbackData& data) noexcept {
    // An exit callback may be missing (the target left the call by longjmp): then start over.
    if (state.open_calls == ThreadState::kMaxOpenCalls) state.open_calls = 0;
    OpenCall& open = state.open_call[state.open_calls++];
    open = {};
    *data.correlationData = state.open_calls;
    open.in_window = recording_window().is_open();
    if (recording_window().selects() && open.in_window) recording_window().note_call(data.correlationId);
    open.may_be_captured = is_kernel_launch(call.form) || is_copy_or_fill(call.form);
    if (is_kernel_launch(call.form)) {
        const LaunchParameters launch = launch_parameters(call.form, data.functionParams);
        if (session().open_captures.load(std::memory_order_relaxed) != 0)
            open.capturing = is_capturing(launch.stream);
        if (session().records_arguments || open.capturing)
            open.arguments_id =
                session().arguments.save(state, launch.function, launch.kernel_parameters, launch.extra);
        if (buffer_capture().armed() && !open.capturing) tell_capture(state, open, launch, data);
    } else if (is_copy_or_fill(call.form)) {
        if (session().open_captures.load(std::memory_order_relaxed) != 0) {
            const CopyAddresses addresses = copy_addresses(call.form, data.functionParams);
            open.copy_source = addresses.source;
            open.copy_destination = addresses.destination;
        }
    } else if (call.form == CallForm::LaunchOnDevices) {
        record_device_launches(state, data);
    } else if (changes_graph(call.form)) {
        on_graph_call_begins(state, open, call, data.functionParams);
    }
    if (runs_kernels(call.form))
        counters().before_launch(data.context, call.form == CallForm::GraphLaunch, open.capturing);
    open.start_ns = now_ns(); // last, so that saving the arguments does not count as the call's own time
}

void on_exit(ThreadState& state, const WatchedCall& call, const CUpti_CallbackData& data) noexcept {
    const std::int64_t end_ns = now_ns();
    if (runs_kernels(call.form)) counters().after_launch();
    const std::uint64_t depth = *data.correlationData;
    if (depth == 0 || depth > state.open_calls) return recording().swallow_error();
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
    record.arguments_id = is_kernel_launch(call.form) ? open.arguments_id : 0;
    record.start_ns = open.start_ns;
    record.end_ns = end_ns;
    if (open.in_window || open.capturing || is_watched(call, Watching::Setup)) recording().append(record);

    auto& captures = session().open_captures;
    if (runs_kernels(call.form) && open.in_window && !open.capturing && result == CUDA_SUCCESS)
        increment(state.launches_called);
    if (call.form == CallForm::BeginCapture && result == CUDA_SUCCESS) {
        captures.fetch_add(1);
        if (recording_window().selects()) recording_window().on_capture_began();
    }
    // A capture that was invalidated also ends here, with an error.
    if (call.form == CallForm::EndCapture && captures.load() != 0) captures.fetch_sub(1);
    if (open.in_window && is_copy_or_fill(call.form)) record_copy_addresses(call.form, data);
    if (result != CUDA_SUCCESS) return;
    if (is_kernel_launch(call.form) && buffer_capture().armed() && !open.capturing)
        buffer_capture().on_launch_succeeded(launch_parameters(call.form, data.functionParams).stream);
    if (changes_graph(call.form)) on_graph_call_succeeded(open, call, data.functionParams);
    if (call.form == CallForm::LoadModule) on_module_load_call(call, data.functionParams);
}

/// Whether the entry of a call is passed over because the options of the recording leave it out.
bool is_left_out(const WatchedCall& call) noexcept {
    return !recording_window().is_open() && session().open_captures.load(std::memory_order_relaxed) == 0 &&
           !is_watched(call, Watching::Setup);
}

void on_driver_call(CUpti_CallbackId id, const CUpti_CallbackData& data) noexcept {
    if (buffer_capture().armed() && BufferCapture::is_own_call()) return;
    if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart || id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop) {
        if (data.callbackSite == CUPTI_API_EXIT)
            recording_window().on_profiler_call(id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
        return;
    }
    const WatchedCall* const call = watched_call(id);
    ThreadState* const state = recording().thread_state();
    if (call == nullptr || state == nullptr) return recording().swallow_error();
    if (!session().driver_answered.load(std::memory_order_relaxed)) session().driver_answered.store(true);
    const bool selects = recording_window().selects();
    if (data.callbackSite == CUPTI_API_ENTER) {
        if (selects && is_left_out(*call)) {
            *data.correlationData = 0;
            return;
        }
        return on_enter(*state, *call, data);
    }
    if (!selects || *data.correlationData != 0) on_exit(*state, *call, data);
    if (selects) recording_window().on_call(*call); // after its record: it may end the window
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) noexcept {
    if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) return session().arguments.forget_functions();
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) return counters().on_context_created(data.context);
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        return counters().on_context_destroyed(data.context);
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED || id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
        counters().on_graph_node();
    if (data.resourceDescriptor == nullptr) return recording().swallow_error();
    switch (id) {
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
        return on_graph_node_created(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
        return on_graph_node_cloned(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED:
        return on_exec_node_updated(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS:
        return on_exec_node_set(*static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
        return on_module_loaded(*static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor));
    default:
        return;
    }
}

} // namespace

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept {
    if (!recording().active() || data == nullptr) {
        counters().after_launch(); // the recording may have stopped while this thread was in a launch
        return;
    }
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        on_driver_call(id, *static_cast<const CUpti_CallbackData*>(data));
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
}

} // namespace deepjit::tracer
