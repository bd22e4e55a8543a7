#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>

/// What the fake driver offers beyond the real one's API: a module format for the test programs, and hooks
/// for the fake CUPTI.
namespace fake_cuda {

/// One parameter of a kernel.
struct FakeParameter {
    std::uint32_t byte_offset;
    std::uint32_t size_bytes;
};

struct FakeKernel {
    const char* name; ///< any bytes but 0
    const FakeParameter* parameters;
    std::uint32_t parameter_count;
};

inline constexpr std::uint64_t kImageMagic = 0x4147'4D49'454B'4146; // "FAKEIMGA"

/// The image that cuModuleLoadData and cuLibraryLoadData of the fake driver take. Everything it points to
/// must outlive the process.
struct FakeImage {
    std::uint64_t magic = kImageMagic;
    const FakeKernel* kernels = nullptr;
    std::size_t kernel_count = 0;
};

/// A kernel, copy or fill that the device runs.
struct DeviceWork {
    enum class Kind { Kernel, Copy, Fill } kind = Kind::Kernel;
    const char* kernel_name = nullptr;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint8_t copy_kind = 0; ///< CUpti_ActivityMemcpyKind
    bool pageable = false;
    std::uint64_t bytes = 0;
    std::uint32_t correlation_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t graph_id = 0;
    std::uint64_t graph_node_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

struct MemoryEvent {
    bool is_release = false;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint32_t correlation_id = 0;
};

struct GraphNodeEvent {
    enum class Change {
        Created,
        Cloned,  ///< `node` from `original`
        Updated, ///< `original`, of an executable graph, takes what `node` of another graph holds
        Set,     ///< `node`, of an executable graph and cloned from `original`, was given other parameters
    } change = Change::Created;
    CUgraphNode node = nullptr;
    CUgraphNode original = nullptr;
};

struct GraphLaunchEvent {
    std::uint32_t correlation_id = 0;
    std::uint32_t graph_id = 0;
    std::uint32_t stream_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

struct ModuleEvent {
    std::uint32_t module_id = 0;
    const char* cubin = nullptr;
    std::size_t bytes = 0;
};

/// One driver call, at its entry or exit.
struct ApiEvent {
    bool is_exit = false;
    std::uint32_t callback_id = 0;
    const char* name = nullptr;
    const void* parameters = nullptr;
    const char* symbol_name = nullptr; ///< of launches
    CUresult* result = nullptr;
    std::uint64_t* correlation_data = nullptr;
    std::uint32_t correlation_id = 0;
};

struct Hooks {
    void (*on_api)(const ApiEvent&) = nullptr;
    void (*on_device_work)(const DeviceWork&) = nullptr;
    void (*on_memory)(const MemoryEvent&) = nullptr;
    void (*on_graph_node)(const GraphNodeEvent&) = nullptr;
    void (*on_graph_launch)(const GraphLaunchEvent&) = nullptr;
    void (*on_module_load)(const ModuleEvent&) = nullptr;
    void (*on_module_unload)() = nullptr;
    void (*on_context_created)(CUcontext) = nullptr;
};

} // namespace fake_cuda

extern "C" {
/// Exported by the fake libcuda.so.1 and called by the fake libcupti.so.13.
void fake_cuda_set_hooks(const fake_cuda::Hooks* hooks);
std::uint64_t fake_cuda_graph_node_id(CUgraphNode node);
std::uint32_t fake_cuda_graph_exec_id(CUgraphExec graph);

/// Called by test programs: from then on, images that are no FakeImage (PTX, cubins, fat binaries, files) are
/// loaded as if they were this one.
void fake_cuda_load_images_as(const fake_cuda::FakeImage* image);
}
