#include "tests/fake_cuda/environment.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"
#include "tests/fake_cuda/fake_range_profiler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

// A CUPTI for tests. It turns what the fake driver tells into callbacks and activity records, and misbehaves
// in the ways that README.md lists. Records are delivered as the real one does: by a forced flush, by a
// default flush once all of a buffer are complete, or when a buffer is full.

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

using namespace fake_cuda;

/// Every kind of record fits; the real library packs them by their own size.
constexpr std::size_t kRecordBytes = 256;
static_assert(sizeof(CUpti_ActivityKernel10) <= kRecordBytes &&
              sizeof(CUpti_ActivityMemory4) <= kRecordBytes);

struct Buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::int64_t complete_at_ns = 0;
};

std::mutex state_mutex;
CUpti_CallbackFunc subscriber = nullptr;
void* subscriber_data = nullptr;
std::mutex callbacks_mutex; ///< guards the set below, which the tracer changes while threads call
std::set<std::pair<int, CUpti_CallbackId>> enabled_callbacks;
std::set<int> enabled_kinds;
CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;
Buffer current;
std::size_t kernels_seen = 0;
std::atomic<CUcontext> the_context{nullptr};
std::atomic<long> dropped_to_report{0};

std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

bool is_enabled(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const std::lock_guard guard(callbacks_mutex);
    return subscriber != nullptr && enabled_callbacks.contains({domain, id});
}

bool is_enabled(CUpti_ActivityKind kind) {
    const std::lock_guard guard(state_mutex);
    return enabled_kinds.contains(kind);
}

void deliver(const Buffer& buffer) {
    if (buffer.bytes != nullptr) complete_buffer(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
}

Buffer take_current() {
    const std::lock_guard guard(state_mutex);
    return std::exchange(current, {});
}

template <class Record>
void add_record(const Record& record, std::int64_t complete_at_ns) {
    Buffer full;
    {
        const std::lock_guard guard(state_mutex);
        if (request_buffer == nullptr) return;
        if (current.bytes != nullptr && current.size - current.used < kRecordBytes)
            full = std::exchange(current, {});
        if (current.bytes == nullptr) {
            std::size_t max_records = 0;
            request_buffer(&current.bytes, &current.size, &max_records);
            if (current.bytes == nullptr || current.size < kRecordBytes) return;
        }
        // What lies behind a record is not to be read, least of all as a field of a newer layout.
        std::memset(current.bytes + current.used, 0xA5, kRecordBytes);
        std::memcpy(current.bytes + current.used, &record, sizeof record);
        current.used += kRecordBytes;
        current.complete_at_ns = std::max(current.complete_at_ns, complete_at_ns);
    }
    deliver(full);
}

void on_api(const ApiEvent& event) {
    if (!is_enabled(CUPTI_CB_DOMAIN_DRIVER_API, event.callback_id)) return;
    CUpti_CallbackData data{};
    data.callbackSite = event.is_exit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
    data.functionName = event.name;
    data.functionParams = event.parameters;
    data.symbolName = event.symbol_name;
    data.functionReturnValue = event.is_exit ? event.result : nullptr;
    data.context = the_context;
    data.contextUid = 1;
    data.correlationData = event.correlation_data;
    data.correlationId = event.correlation_id;
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_DRIVER_API, event.callback_id, &data);
}

/// CUPTI 12 makes records of older layouts (cupti_activity_deprecated.h of 13.0).
bool is_cupti_12() {
    static const bool is_older = number_from_environment("FAKE_CUDA_CUPTI_VERSION", 130'001) < 130'000;
    return is_older;
}

template <class Record>
void record_kernel(const DeviceWork& work) {
    static const long zero_every = number_from_environment("FAKE_CUDA_ZERO_TIMESTAMPS", 0);
    Record record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.registersPerThread = 32;
    record.start = static_cast<std::uint64_t>(work.start_ns);
    record.end = static_cast<std::uint64_t>(work.end_ns);
    std::size_t number = 0;
    {
        const std::lock_guard guard(state_mutex);
        number = ++kernels_seen;
    }
    if (zero_every > 0 && number % static_cast<std::size_t>(zero_every) == 0) record.start = record.end = 0;
    record.contextId = 1;
    record.streamId = work.stream_id;
    record.gridX = static_cast<std::int32_t>(work.grid[0]);
    record.gridY = static_cast<std::int32_t>(work.grid[1]);
    record.gridZ = static_cast<std::int32_t>(work.grid[2]);
    record.blockX = static_cast<std::int32_t>(work.block[0]);
    record.blockY = static_cast<std::int32_t>(work.block[1]);
    record.blockZ = static_cast<std::int32_t>(work.block[2]);
    record.dynamicSharedMemory = static_cast<std::int32_t>(work.dynamic_shared_bytes);
    record.correlationId = work.correlation_id;
    record.name = work.kernel_name;
    record.graphNodeId = work.graph_node_id;
    record.graphId = work.graph_id;
    add_record(record, work.end_ns);
}

template <class Record>
Record memory_record(const DeviceWork& work, CUpti_ActivityKind kind) {
    Record record{};
    record.kind = kind;
    record.bytes = work.bytes;
    record.start = static_cast<std::uint64_t>(work.start_ns);
    record.end = static_cast<std::uint64_t>(work.end_ns);
    record.contextId = 1;
    record.streamId = work.stream_id;
    record.correlationId = work.correlation_id;
    record.graphNodeId = work.graph_node_id;
    record.graphId = work.graph_id;
    return record;
}

template <class Record>
void record_copy(const DeviceWork& work) {
    auto record = memory_record<Record>(work, CUPTI_ACTIVITY_KIND_MEMCPY);
    record.copyKind = work.copy_kind;
    record.srcKind = work.pageable ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    add_record(record, work.end_ns);
}

void on_device_work(const DeviceWork& work) {
    const bool counting = work.kind == DeviceWork::Kind::Kernel && measure_kernel(work);
    static const bool no_records = number_from_environment("FAKE_CUDA_NO_RECORDS", 0) != 0;
    if (no_records) return;
    // As the real one: a record of the whole graph takes the place of those of its nodes.
    if (work.graph_node_id != 0 && is_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) return;
    if (work.kind == DeviceWork::Kind::Kernel && is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
        const auto record_one = [](const DeviceWork& done) {
            is_cupti_12() ? record_kernel<CUpti_ActivityKernel9>(done)
                          : record_kernel<CUpti_ActivityKernel10>(done);
        };
        DeviceWork kernel = work;
        if (counting) kernel.start_ns = kernel.end_ns = 0;
        record_one(kernel);
        if (counting && work.graph_node_id != 0) {
            kernel = work;
            kernel.kernel_name = "WaitNs";
            std::fill_n(kernel.grid, 3, 1U);
            std::fill_n(kernel.block, 3, 1U);
            record_one(kernel);
        }
    } else if (work.kind == DeviceWork::Kind::Copy && is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) {
        is_cupti_12() ? record_copy<CUpti_ActivityMemcpy5>(work) : record_copy<CUpti_ActivityMemcpy6>(work);
    } else if (work.kind == DeviceWork::Kind::Fill && is_enabled(CUPTI_ACTIVITY_KIND_MEMSET)) {
        add_record(memory_record<CUpti_ActivityMemset4>(work, CUPTI_ACTIVITY_KIND_MEMSET), work.end_ns);
    }
}

template <class Record>
void record_memory(const MemoryEvent& event) {
    Record record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType = event.is_release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                                  : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.correlationId = event.correlation_id;
    record.address = event.address;
    record.bytes = event.bytes;
    record.timestamp = static_cast<std::uint64_t>(now_ns());
    record.contextId = 1;
    add_record(record, 0);
}

void on_memory(const MemoryEvent& event) {
    if (!is_enabled(CUPTI_ACTIVITY_KIND_MEMORY2)) return;
    is_cupti_12() ? record_memory<CUpti_ActivityMemory3>(event) : record_memory<CUpti_ActivityMemory4>(event);
}

void on_graph_node(const GraphNodeEvent& event) {
    CUpti_CallbackId id = CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
    if (event.change == GraphNodeEvent::Change::Cloned) id = CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    if (event.change == GraphNodeEvent::Change::Updated) id = CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED;
    if (event.change == GraphNodeEvent::Change::Set) id = CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS;
    if (!is_enabled(CUPTI_CB_DOMAIN_RESOURCE, id)) return;
    CUpti_GraphData graph{};
    graph.node = event.node;
    graph.originalNode = event.original;
    graph.nodeType = CU_GRAPH_NODE_TYPE_KERNEL; // CUPTI 13.0 says so of every node
    CUpti_ResourceData data{};
    data.resourceDescriptor = &graph;
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

template <class Record>
void record_graph_launch(const GraphLaunchEvent& event) {
    Record record{};
    record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    record.correlationId = event.correlation_id;
    record.start = static_cast<std::uint64_t>(event.start_ns);
    record.end = static_cast<std::uint64_t>(event.end_ns);
    record.graphId = event.graph_id;
    record.contextId = 1;
    record.streamId = event.stream_id;
    add_record(record, event.end_ns);
}

void on_graph_launch(const GraphLaunchEvent& event) {
    if (!is_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) return;
    is_cupti_12() ? record_graph_launch<CUpti_ActivityGraphTrace>(event)
                  : record_graph_launch<CUpti_ActivityGraphTrace2>(event);
}

void on_module_load(const ModuleEvent& event) {
    const CUpti_CallbackId id = CUPTI_CBID_RESOURCE_MODULE_LOADED;
    static const bool silent = number_from_environment("FAKE_CUDA_NO_MODULE_CALLBACK", 0) != 0;
    if (silent || !is_enabled(CUPTI_CB_DOMAIN_RESOURCE, id)) return;
    CUpti_ModuleResourceData module{};
    module.moduleId = event.module_id;
    module.pCubin = event.cubin;
    module.cubinSize = event.bytes;
    CUpti_ResourceData data{};
    data.resourceDescriptor = &module;
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void on_module_unload() {
    if (!is_enabled(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)) return;
    const CUpti_ResourceData data{};
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
}

void on_context_created(CUcontext context) {
    the_context = context;
    if (!is_enabled(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED)) return;
    CUpti_ResourceData data{};
    data.context = context;
    subscriber(subscriber_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

void flush(bool forced) {
    {
        const std::lock_guard guard(state_mutex);
        if (!forced && current.complete_at_ns > now_ns()) return;
    }
    deliver(take_current());
}

} // namespace

FAKE_API CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = static_cast<std::uint32_t>(number_from_environment("FAKE_CUDA_CUPTI_VERSION", 130'001));
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    switch (result) {
    case CUPTI_SUCCESS:
        *text = "CUPTI_SUCCESS";
        break;
    case CUPTI_ERROR_NOT_INITIALIZED:
        *text = "CUPTI_ERROR_NOT_INITIALIZED";
        break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
        break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default:
        *text = "CUPTI_ERROR_UNKNOWN";
        break;
    }
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                    void* user_data) {
    const long error = number_from_environment("FAKE_CUDA_SUBSCRIBE_ERROR", 0);
    if (error != 0) return static_cast<CUptiResult>(error);
    if (subscriber != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
    auto* const set_hooks =
        reinterpret_cast<decltype(&fake_cuda_set_hooks)>(dlsym(driver, "fake_cuda_set_hooks"));
    if (set_hooks == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
    subscriber = callback;
    subscriber_data = user_data;
    dropped_to_report = number_from_environment("FAKE_CUDA_DROPPED", 0);
    Hooks hooks;
    hooks.on_api = on_api;
    hooks.on_device_work = on_device_work;
    hooks.on_memory = on_memory;
    hooks.on_graph_node = on_graph_node;
    hooks.on_graph_launch = on_graph_launch;
    hooks.on_module_load = on_module_load;
    hooks.on_module_unload = on_module_unload;
    hooks.on_context_created = on_context_created;
    set_hooks(&hooks);
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                       void* user_data, CUpti_SubscriberParams* parameters) {
    const CUptiResult result = cuptiSubscribe(handle, callback, user_data);
    const char* const owner = std::getenv("FAKE_CUDA_SUBSCRIBER_NAME");
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && owner != nullptr &&
        parameters != nullptr && parameters->oldSubscriberName != nullptr)
        std::snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "%s", owner);
    return result;
}

FAKE_API CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    const std::lock_guard guard(callbacks_mutex);
    const bool is_newer = domain == CUPTI_CB_DOMAIN_RESOURCE && id > CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    if (is_newer && number_from_environment("FAKE_CUDA_CUPTI_VERSION", 130'001) < 130'000)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (enable != 0)
        enabled_callbacks.insert({domain, id});
    else
        enabled_callbacks.erase({domain, id});
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed) {
    request_buffer = requested;
    complete_buffer = completed;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    const long error = number_from_environment("FAKE_CUDA_ENABLE_ERROR", 0);
    if (error != 0 && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return static_cast<CUptiResult>(error);
    const std::lock_guard guard(state_mutex);
    enabled_kinds.insert(kind);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    const bool deadlocks = number_from_environment("FAKE_CUDA_CUPTI_VERSION", 130'001) < 130'001;
    if (deadlocks && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        std::this_thread::sleep_for(std::chrono::hours(1));
    const std::lock_guard guard(state_mutex);
    enabled_kinds.erase(kind);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) {
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityFlushAll(std::uint32_t flags) {
    if (number_from_environment("FAKE_CUDA_HANG_ON_FLUSH", 0) != 0)
        std::this_thread::sleep_for(std::chrono::hours(1));
    flush((flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    return CUPTI_SUCCESS;
}

/// The real one's periodic flush hands over full buffers alone, and here add_record() does that at once.
FAKE_API CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                                CUpti_Activity** record) {
    std::uint8_t* next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + kRecordBytes;
    if (next + kRecordBytes > buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = static_cast<std::size_t>(dropped_to_report.exchange(0));
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
    *timestamp = static_cast<std::uint64_t>(now_ns());
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
    static auto* const node_id = reinterpret_cast<decltype(&fake_cuda_graph_node_id)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "fake_cuda_graph_node_id"));
    *id = node_id(node);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetGraphExecId(CUgraphExec graph, std::uint32_t* id) {
    static auto* const exec_id = reinterpret_cast<decltype(&fake_cuda_graph_exec_id)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "fake_cuda_graph_exec_id"));
    *id = exec_id(graph);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetContextId(CUcontext, std::uint32_t* id) {
    *id = 1;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiGetDeviceId(CUcontext, std::uint32_t* id) {
    *id = 0;
    return CUPTI_SUCCESS;
}
