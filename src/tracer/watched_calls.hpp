#pragma once

#include <cstdint>
#include <span>

#include <cupti.h>

namespace deepjit::tracer {

/// How the parameters of a driver call are read.
enum class CallForm : std::uint8_t {
    Plain,
    LaunchKernel,            ///< cuLaunchKernel_params and its _ptsz twin, which are laid out alike
    LaunchKernelEx,          ///< cuLaunchKernelEx_params
    LaunchCooperativeKernel, ///< cuLaunchCooperativeKernel_params
    GraphLaunch,
    Copy,         ///< begins with destination, source
    CopyFromPeer, ///< begins with destination, its context, source
    Fill,         ///< begins with destination
    BeginCapture,
    EndCapture,
    Copy2D,          ///< begins with a CUDA_MEMCPY2D*
    Copy3D,          ///< begins with a CUDA_MEMCPY3D*
    Copy3DPeer,      ///< begins with a CUDA_MEMCPY3D_PEER*
    CopyBatch,       ///< begins with destinations, sources, sizes, count
    AddGraphNode,    ///< one of the forms that graph_calls.cpp knows
    SetGraphNode,    ///< likewise, on a node of a graph
    SetExecNode,     ///< likewise, on a node of an executable graph
    UpdateExecGraph, ///< begins with the executable graph
    LaunchOnDevices, ///< cuLaunchCooperativeKernelMultiDevice_params
    LoadModule,      ///< one of the forms that module_calls.cpp knows
};

/// A driver call whose start, end and result are recorded.
struct WatchedCall {
    CUpti_CallbackId id;
    const char* name;
    std::uint8_t category; ///< trace::CallCategory
    CallForm form;
};

/// Those that explain a gap on the device. Watching every call would cost as much as the kernel records do.
std::span<const WatchedCall> watched_calls() noexcept;

/// The call of that id, or null where it is not watched.
const WatchedCall* watched_call(CUpti_CallbackId id) noexcept;

} // namespace deepjit::tracer
