#include "src/tracer/activity.hpp"

#include "src/tracer/definitions.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/recording_window.hpp"
#include "src/tracer/session.hpp"

#include <cstdlib>

namespace deepjit::tracer {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20U;
constexpr std::size_t kBufferAlignment = 8; // ACTIVITY_RECORD_ALIGNMENT

/// A few buffers are kept, because CUPTI asks for one on the target's thread.
constexpr std::size_t kMaxSpareBuffers = 8;
constinit SpinLock spare_buffers_lock;
constinit std::uint8_t* spare_buffers[kMaxSpareBuffers] = {};
constinit std::size_t spare_buffer_count = 0;

std::uint8_t* take_buffer() noexcept {
    {
        Guard guard(spare_buffers_lock);
        if (spare_buffer_count > 0) return spare_buffers[--spare_buffer_count];
    }
    return static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
}

void give_back_buffer(std::uint8_t* buffer) noexcept {
    {
        Guard guard(spare_buffers_lock);
        if (spare_buffer_count < kMaxSpareBuffers) {
            spare_buffers[spare_buffer_count++] = buffer;
            return;
        }
    }
    std::free(buffer);
}

// The record structs are those of CUPTI 13.0. Kernel9, Memcpy5 and the others of CUPTI 12 begin with the same
// fields at the same offsets, and nothing after those is read; the size of a record is CUPTI's business
// (cuptiActivityGetNextRecord).

void record_kernel(ThreadState& state, const CUpti_ActivityKernel10& kernel) noexcept {
    KernelIdentity identity{};
    identity.grid[0] = static_cast<std::uint32_t>(kernel.gridX);
    identity.grid[1] = static_cast<std::uint32_t>(kernel.gridY);
    identity.grid[2] = static_cast<std::uint32_t>(kernel.gridZ);
    identity.block[0] = static_cast<std::uint32_t>(kernel.blockX);
    identity.block[1] = static_cast<std::uint32_t>(kernel.blockY);
    identity.block[2] = static_cast<std::uint32_t>(kernel.blockZ);
    identity.registers_per_thread = kernel.registersPerThread;
    identity.static_shared_bytes = static_cast<std::uint32_t>(kernel.staticSharedMemory);
    identity.dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamicSharedMemory);
    identity.local_bytes_per_thread = kernel.localMemoryPerThread;
    identity.device_id = kernel.deviceId;
    identity.context_id = kernel.contextId;
    identity.stream_id = kernel.streamId;
    identity.graph_id = kernel.graphId;
    identity.graph_node_id = kernel.graphNodeId;

    wire::Kernel record;
    record.site_id = definitions().site_id_of(identity, kernel.name != nullptr ? kernel.name : "");
    record.correlation_id = kernel.correlationId;
    record.start_ns = static_cast<std::int64_t>(kernel.start);
    record.end_ns = static_cast<std::int64_t>(kernel.end);
    recording().append(record);
    increment(state.kernels_recorded);
    if (kernel.start == 0 || kernel.end == 0) increment(state.zero_timestamps);
}

/// trace::MemoryOpKind of a CUpti_ActivityMemcpyKind.
std::uint8_t copy_operation(std::uint8_t copy_kind) noexcept {
    switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return 1;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return 2;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
        return 3;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return 4;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return 5;
    default:
        return 0;
    }
}
constexpr std::uint8_t kPeerToPeer = 5;
constexpr std::uint8_t kMemset = 6;

template <class Activity>
wire::MemoryOp memory_op(const Activity& activity, std::uint8_t operation) noexcept {
    wire::MemoryOp record;
    record.operation = operation;
    record.correlation_id = activity.correlationId;
    record.device_id = activity.deviceId;
    record.context_id = activity.contextId;
    record.stream_id = activity.streamId;
    record.graph_id = activity.graphId;
    record.graph_node_id = activity.graphNodeId;
    record.start_ns = static_cast<std::int64_t>(activity.start);
    record.end_ns = static_cast<std::int64_t>(activity.end);
    record.bytes = activity.bytes;
    return record;
}

void record_copy(const CUpti_ActivityMemcpy6& copy) noexcept {
    wire::MemoryOp record = memory_op(copy, copy_operation(copy.copyKind));
    const bool pageable = copy.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
                          copy.dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    record.header.flags = pageable ? wire::MemoryOp::kPageable : 0;
    recording().append(record);
}

void record_allocation(const CUpti_ActivityMemory4& memory) noexcept {
    if (memory.memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE) return;
    wire::Allocation record;
    record.header.flags = memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                              ? wire::Allocation::kFree
                              : 0;
    record.device_id = memory.deviceId;
    record.address = memory.address;
    record.bytes = memory.bytes;
    record.time_ns = static_cast<std::int64_t>(memory.timestamp);
    recording().append(record);
}

/// CUpti_ActivityGraphTrace of CUPTI 12 begins with the same fields.
void record_graph_launch(const CUpti_ActivityGraphTrace2& graph) noexcept {
    wire::GraphLaunch record;
    record.correlation_id = graph.correlationId;
    record.graph_id = graph.graphId;
    record.device_id = graph.deviceId;
    record.context_id = graph.contextId;
    record.stream_id = graph.streamId;
    record.start_ns = static_cast<std::int64_t>(graph.start);
    record.end_ns = static_cast<std::int64_t>(graph.end);
    recording().append(record);
}

const char* overhead_kind(CUpti_ActivityOverheadKind kind) noexcept {
    switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
        return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
        return "CUPTI buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
        return "CUPTI instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
        return "CUPTI resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
        return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
        return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
        return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
        return "activity buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
        return "UVM activity start";
    default:
        return "unknown";
    }
}

void record_overhead(const CUpti_ActivityOverhead3& overhead) noexcept {
    wire::Overhead record;
    record.start_ns = static_cast<std::int64_t>(overhead.start);
    record.end_ns = static_cast<std::int64_t>(overhead.end);
    recording().append(record, overhead_kind(overhead.overheadKind));
}

/// Of a record of work on the device; 0 for other kinds.
std::uint32_t correlation_id_of(const CUpti_Activity& activity) noexcept {
    const void* const record = &activity;
    switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return static_cast<const CUpti_ActivityKernel10*>(record)->correlationId;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return static_cast<const CUpti_ActivityMemcpy6*>(record)->correlationId;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return static_cast<const CUpti_ActivityMemcpyPtoP4*>(record)->correlationId;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return static_cast<const CUpti_ActivityMemset4*>(record)->correlationId;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return static_cast<const CUpti_ActivityGraphTrace2*>(record)->correlationId;
    default:
        return 0;
    }
}

void record_activity(ThreadState& state, const CUpti_Activity& activity) noexcept {
    const void* const record = &activity;
    if (recording_window().selects()) {
        const std::uint32_t correlation_id = correlation_id_of(activity);
        if (correlation_id != 0 && !recording_window().admits(correlation_id)) return;
    }
    switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return record_kernel(state, *static_cast<const CUpti_ActivityKernel10*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return record_copy(*static_cast<const CUpti_ActivityMemcpy6*>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return recording().append(
            memory_op(*static_cast<const CUpti_ActivityMemcpyPtoP4*>(record), kPeerToPeer));
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return recording().append(memory_op(*static_cast<const CUpti_ActivityMemset4*>(record), kMemset));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
        return record_allocation(*static_cast<const CUpti_ActivityMemory4*>(record));
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
        return record_graph_launch(*static_cast<const CUpti_ActivityGraphTrace2*>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return record_overhead(*static_cast<const CUpti_ActivityOverhead3*>(record));
    default:
        return;
    }
}

} // namespace

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) noexcept {
    *buffer = take_buffer();
    *size = *buffer != nullptr ? kBufferBytes : 0;
    *max_records = 0; // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream_id, std::uint8_t* buffer,
                                  std::size_t, std::size_t valid_size) noexcept {
    if (buffer == nullptr) return;
    const CuptiLibrary& cupti = session().cupti;
    ThreadState* const state = recording().active() ? recording().thread_state() : nullptr;
    CUpti_Activity* activity = nullptr;
    while (state != nullptr && valid_size > 0 &&
           cupti.activity_get_next_record(buffer, valid_size, &activity) == CUPTI_SUCCESS) {
        record_activity(*state, *activity);
    }
    give_back_buffer(buffer);
    // With no lock held: this call may wait for a thread that is asking for a buffer.
    std::size_t dropped = 0;
    if (cupti.activity_get_num_dropped_records(context, stream_id, &dropped) == CUPTI_SUCCESS &&
        dropped > 0) {
        session().dropped_records.fetch_add(dropped, std::memory_order_relaxed);
    }
}

} // namespace deepjit::tracer
