#include "src/tracer/watched_calls.hpp"

#include <array>

namespace deepjit::tracer {
namespace {

// The numbers of trace::CallCategory, which is out of reach here (src/tracer may not include src/trace);
// tests/unit/tracer compares them.
constexpr std::uint8_t kLaunch = 1;
constexpr std::uint8_t kGraphLaunch = 2;
constexpr std::uint8_t kCopy = 3;
constexpr std::uint8_t kSynchronise = 4;
constexpr std::uint8_t kAllocate = 5;
constexpr std::uint8_t kEvent = 6;
constexpr std::uint8_t kGraph = 7;
constexpr std::uint8_t kModuleLoad = 8;

#define DEEPJIT_WATCH(api, category, form)                                                                   \
    WatchedCall {                                                                                            \
        CUPTI_DRIVER_TRACE_CBID_##api, #api, category, CallForm::form                                        \
    }

// clang-format off
constexpr WatchedCall kWatchedCalls[] = {
    DEEPJIT_WATCH(cuLaunchKernel, kLaunch, LaunchKernel),
    DEEPJIT_WATCH(cuLaunchKernel_ptsz, kLaunch, LaunchKernel),
    DEEPJIT_WATCH(cuLaunchKernelEx, kLaunch, LaunchKernelEx),
    DEEPJIT_WATCH(cuLaunchKernelEx_ptsz, kLaunch, LaunchKernelEx),
    DEEPJIT_WATCH(cuLaunchCooperativeKernel, kLaunch, LaunchCooperativeKernel),
    DEEPJIT_WATCH(cuLaunchCooperativeKernel_ptsz, kLaunch, LaunchCooperativeKernel),
    DEEPJIT_WATCH(cuLaunchCooperativeKernelMultiDevice, kLaunch, LaunchOnDevices),
    DEEPJIT_WATCH(cuGraphLaunch, kGraphLaunch, GraphLaunch),
    DEEPJIT_WATCH(cuGraphLaunch_ptsz, kGraphLaunch, GraphLaunch),
    DEEPJIT_WATCH(cuMemcpy, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpy_ptds, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyHtoD_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyHtoD_v2_ptds, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoH_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoH_v2_ptds, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoD_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoD_v2_ptds, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyAsync, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyAsync_ptsz, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyHtoDAsync_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyHtoDAsync_v2_ptsz, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoHAsync_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoHAsync_v2_ptsz, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoDAsync_v2, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyDtoDAsync_v2_ptsz, kCopy, Copy),
    DEEPJIT_WATCH(cuMemcpyPeer, kCopy, CopyFromPeer),
    DEEPJIT_WATCH(cuMemcpyPeer_ptds, kCopy, CopyFromPeer),
    DEEPJIT_WATCH(cuMemcpyPeerAsync, kCopy, CopyFromPeer),
    DEEPJIT_WATCH(cuMemcpyPeerAsync_ptsz, kCopy, CopyFromPeer),
    DEEPJIT_WATCH(cuMemcpy2D_v2, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy2D_v2_ptds, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy2DUnaligned_v2, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy2DUnaligned_v2_ptds, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy3D_v2, kCopy, Copy3D),
    DEEPJIT_WATCH(cuMemcpy3D_v2_ptds, kCopy, Copy3D),
    DEEPJIT_WATCH(cuMemcpy3DPeer, kCopy, Copy3DPeer),
    DEEPJIT_WATCH(cuMemcpy3DPeer_ptds, kCopy, Copy3DPeer),
    DEEPJIT_WATCH(cuMemcpy2DAsync_v2, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy2DAsync_v2_ptsz, kCopy, Copy2D),
    DEEPJIT_WATCH(cuMemcpy3DAsync_v2, kCopy, Copy3D),
    DEEPJIT_WATCH(cuMemcpy3DAsync_v2_ptsz, kCopy, Copy3D),
    DEEPJIT_WATCH(cuMemcpy3DPeerAsync, kCopy, Copy3DPeer),
    DEEPJIT_WATCH(cuMemcpy3DPeerAsync_ptsz, kCopy, Copy3DPeer),
    DEEPJIT_WATCH(cuMemcpyBatchAsync, kCopy, CopyBatch),
    DEEPJIT_WATCH(cuMemcpyBatchAsync_ptsz, kCopy, CopyBatch),
    DEEPJIT_WATCH(cuMemcpyBatchAsync_v2, kCopy, CopyBatch),
    DEEPJIT_WATCH(cuMemcpyBatchAsync_v2_ptsz, kCopy, CopyBatch),
    DEEPJIT_WATCH(cuMemcpy3DBatchAsync, kCopy, Plain),
    DEEPJIT_WATCH(cuMemcpy3DBatchAsync_ptsz, kCopy, Plain),
    DEEPJIT_WATCH(cuMemcpy3DBatchAsync_v2, kCopy, Plain),
    DEEPJIT_WATCH(cuMemcpy3DBatchAsync_v2_ptsz, kCopy, Plain),
    DEEPJIT_WATCH(cuMemsetD8_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD8_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD8Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD8Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD16_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD16_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD16Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD16Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD32_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD32_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD32Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD32Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D8_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D8_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D8Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D8Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D16_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D16_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D16Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D16Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D32_v2, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D32_v2_ptds, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D32Async, kCopy, Fill),
    DEEPJIT_WATCH(cuMemsetD2D32Async_ptsz, kCopy, Fill),
    DEEPJIT_WATCH(cuCtxSynchronize, kSynchronise, Plain),
    DEEPJIT_WATCH(cuCtxSynchronize_v2, kSynchronise, Plain),
    DEEPJIT_WATCH(cuEventSynchronize, kSynchronise, Plain),
    DEEPJIT_WATCH(cuStreamSynchronize, kSynchronise, Plain),
    DEEPJIT_WATCH(cuStreamSynchronize_ptsz, kSynchronise, Plain),
    DEEPJIT_WATCH(cuMemAlloc_v2, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocPitch_v2, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemFree_v2, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocManaged, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocHost_v2, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemHostAlloc, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemHostAlloc_v2, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemFreeHost, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemCreate, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemRelease, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemMap, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemUnmap, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemSetAccess, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocAsync, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocAsync_ptsz, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocFromPoolAsync, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemAllocFromPoolAsync_ptsz, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemFreeAsync, kAllocate, Plain),
    DEEPJIT_WATCH(cuMemFreeAsync_ptsz, kAllocate, Plain),
    DEEPJIT_WATCH(cuEventRecord, kEvent, Plain),
    DEEPJIT_WATCH(cuEventRecord_ptsz, kEvent, Plain),
    DEEPJIT_WATCH(cuEventRecordWithFlags, kEvent, Plain),
    DEEPJIT_WATCH(cuEventRecordWithFlags_ptsz, kEvent, Plain),
    DEEPJIT_WATCH(cuStreamWaitEvent, kEvent, Plain),
    DEEPJIT_WATCH(cuStreamWaitEvent_ptsz, kEvent, Plain),
    DEEPJIT_WATCH(cuStreamBeginCapture, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamBeginCapture_ptsz, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamBeginCapture_v2, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamBeginCapture_v2_ptsz, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamBeginCaptureToGraph, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamBeginCaptureToGraph_ptsz, kGraph, BeginCapture),
    DEEPJIT_WATCH(cuStreamEndCapture, kGraph, EndCapture),
    DEEPJIT_WATCH(cuStreamEndCapture_ptsz, kGraph, EndCapture),
    DEEPJIT_WATCH(cuGraphInstantiate, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphInstantiate_v2, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphInstantiateWithFlags, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphInstantiateWithParams, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphInstantiateWithParams_ptsz, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphUpload, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphUpload_ptsz, kGraph, Plain),
    DEEPJIT_WATCH(cuGraphAddKernelNode, kGraph, AddGraphNode),
    DEEPJIT_WATCH(cuGraphAddKernelNode_v2, kGraph, AddGraphNode),
    DEEPJIT_WATCH(cuGraphAddMemcpyNode, kGraph, AddGraphNode),
    DEEPJIT_WATCH(cuGraphAddNode, kGraph, AddGraphNode),
    DEEPJIT_WATCH(cuGraphAddNode_v2, kGraph, AddGraphNode),
    DEEPJIT_WATCH(cuGraphKernelNodeSetParams, kGraph, SetGraphNode),
    DEEPJIT_WATCH(cuGraphKernelNodeSetParams_v2, kGraph, SetGraphNode),
    DEEPJIT_WATCH(cuGraphMemcpyNodeSetParams, kGraph, SetGraphNode),
    DEEPJIT_WATCH(cuGraphNodeSetParams, kGraph, SetGraphNode),
    DEEPJIT_WATCH(cuGraphExecKernelNodeSetParams, kGraph, SetExecNode),
    DEEPJIT_WATCH(cuGraphExecKernelNodeSetParams_v2, kGraph, SetExecNode),
    DEEPJIT_WATCH(cuGraphExecMemcpyNodeSetParams, kGraph, SetExecNode),
    DEEPJIT_WATCH(cuGraphExecNodeSetParams, kGraph, SetExecNode),
    DEEPJIT_WATCH(cuGraphExecUpdate, kGraph, UpdateExecGraph),
    DEEPJIT_WATCH(cuGraphExecUpdate_v2, kGraph, UpdateExecGraph),
    DEEPJIT_WATCH(cuModuleLoad, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuModuleLoadData, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuModuleLoadDataEx, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuModuleLoadFatBinary, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuModuleUnload, kModuleLoad, Plain),
    DEEPJIT_WATCH(cuLibraryLoadData, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuLibraryLoadFromFile, kModuleLoad, LoadModule),
    DEEPJIT_WATCH(cuLibraryUnload, kModuleLoad, Plain),
};
// clang-format on

#undef DEEPJIT_WATCH

/// Index into kWatchedCalls plus one, by callback id.
constexpr auto kIndexById = [] {
    std::array<std::uint8_t, CUPTI_DRIVER_TRACE_CBID_SIZE> index{};
    std::uint8_t next = 1;
    for (const WatchedCall& call : kWatchedCalls)
        index[call.id] = next++;
    return index;
}();

static_assert(std::size(kWatchedCalls) < 255);

} // namespace

std::span<const WatchedCall> watched_calls() noexcept {
    return kWatchedCalls;
}

const WatchedCall* watched_call(CUpti_CallbackId id) noexcept {
    if (id >= kIndexById.size() || kIndexById[id] == 0) return nullptr;
    return &kWatchedCalls[kIndexById[id] - 1];
}

} // namespace deepjit::tracer
