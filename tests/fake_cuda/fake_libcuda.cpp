#include "tests/fake_cuda/device_image.hpp"
#include "tests/fake_cuda/environment.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

// A driver for tests: device memory is host memory, kernels do nothing and take a given time. Only the parts
// of the API that this repository's programs call exist, and they check their arguments far less than the
// real ones. Every handle lives until the process ends.

#define FAKE_API extern "C" __attribute__((visibility("default")))

namespace {

using namespace fake_cuda;

struct Kernel {
    bool is_library_kernel = false;
    std::string name;
    std::vector<FakeParameter> parameters;
};

struct Module {
    FakeImage image;
    bool is_cubin = false; ///< has a kernel of every name
    std::string cubin;     ///< what CUPTI hands out
};

struct Node {
    std::uint64_t id = 0;
    const Node* original = nullptr; ///< of a node of an executable graph
    DeviceWork work;
};

struct Graph {
    std::uint32_t id = 0;
    std::deque<Node> nodes;
};

struct Stream {
    std::uint32_t id = 0;
    std::int64_t busy_until_ns = 0;
    Graph* capturing = nullptr;
    bool waits_for_default_stream = true;
};

struct Event {
    std::int64_t time_ns = 0;
};

std::mutex state_mutex;
bool initialised = false;
Hooks hooks;
std::atomic<std::uint32_t> next_correlation_id{1};
std::atomic<std::uint64_t> next_node_id{1'000};
std::atomic<std::uint32_t> next_graph_id{1};
std::atomic<std::uint32_t> next_stream_id{13};
std::atomic<std::uint32_t> next_module_id{23};
const FakeImage* stand_in = nullptr; ///< what images that are no FakeImage are loaded as
Stream default_stream{7, 0, nullptr, true};
/// A copy or fill of the default stream may be under way: no call has waited for it.
std::atomic<bool> default_stream_is_busy = false;
std::int64_t device_busy_until_ns = 0;
thread_local CUcontext current_context = nullptr;
thread_local std::uint32_t current_correlation_id = 0;
int the_context; ///< its address is the only context
std::map<CUdeviceptr, std::size_t> allocations;

std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

Stream& stream_of(CUstream handle) {
    return handle == nullptr ? default_stream : *reinterpret_cast<Stream*>(handle);
}

void wait_until(std::int64_t time_ns) {
    const std::int64_t left_ns = time_ns - now_ns();
    if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
}

/// Calls `body` between the entry and exit hooks of the driver call `id`.
template <class Parameters, class Body>
CUresult traced(CUpti_CallbackId id, const char* name, const Parameters& parameters, Body body,
                const char* symbol_name = nullptr) {
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
    std::uint64_t correlation_data = 0;
    CUresult result = CUDA_SUCCESS;
    ApiEvent event;
    event.callback_id = id;
    event.name = name;
    event.parameters = &parameters;
    event.result = &result;
    event.correlation_data = &correlation_data;
    event.correlation_id = next_correlation_id++;
    event.symbol_name = symbol_name;
    if (hooks.on_api != nullptr) hooks.on_api(event);
    current_correlation_id = event.correlation_id;
    result = body();
    event.is_exit = true;
    if (hooks.on_api != nullptr) hooks.on_api(event);
    return result;
}
/// The first three arguments of traced() for a driver call with these parameters.
#define CALL(api, ...)                                                                                       \
    CUPTI_DRIVER_TRACE_CBID_##api, #api, api##_params {                                                      \
        __VA_ARGS__                                                                                          \
    }

const char* name_of(CUfunction function) {
    return function == nullptr ? nullptr : reinterpret_cast<const Kernel*>(function)->name.c_str();
}

/// Lets the device run `work` after what is already in the stream; returns when it ends.
std::int64_t run_on_device(Stream& stream, DeviceWork work) {
    static const long kernel_ns = number_from_environment("FAKE_CUDA_KERNEL_NS", 2'000);
    {
        const std::lock_guard guard(state_mutex);
        work.start_ns = std::max(now_ns() + 1'000, stream.busy_until_ns + 700);
        work.end_ns = work.start_ns + kernel_ns;
        stream.busy_until_ns = work.end_ns;
        device_busy_until_ns = std::max(device_busy_until_ns, work.end_ns);
    }
    work.stream_id = stream.id;
    if (hooks.on_device_work != nullptr) hooks.on_device_work(work);
    return work.end_ns;
}

void tell(GraphNodeEvent::Change change, const Node* node, const Node* original) {
    if (hooks.on_graph_node == nullptr) return;
    GraphNodeEvent event;
    event.change = change;
    event.node = reinterpret_cast<CUgraphNode>(const_cast<Node*>(node));
    event.original = reinterpret_cast<CUgraphNode>(const_cast<Node*>(original));
    hooks.on_graph_node(event);
}

Node& add_node(Graph& graph, const DeviceWork& work) {
    Node& node = graph.nodes.emplace_back();
    node.id = next_node_id++;
    node.work = work;
    tell(GraphNodeEvent::Change::Created, &node, nullptr);
    return node;
}

/// Enqueues `work`, or makes it a node of the graph that the stream is being captured into.
CUresult submit(CUstream handle, DeviceWork work) {
    Stream& stream = stream_of(handle);
    if (stream.capturing == nullptr) {
        work.correlation_id = current_correlation_id;
        run_on_device(stream, work);
        return CUDA_SUCCESS;
    }
    add_node(*stream.capturing, work);
    return CUDA_SUCCESS;
}

/// FAKE_CUDA_CUBINS: see README.md.
bool takes_cubins() {
    static const bool takes = number_from_environment("FAKE_CUDA_CUBINS", 0) != 0;
    return takes;
}

/// FAKE_CUDA_KERNELS_WRITE: adds one to the byte that the last pointer argument points to.
void write_output(const Kernel& kernel, void** kernel_parameters) {
    static const bool writes = number_from_environment("FAKE_CUDA_KERNELS_WRITE", 0) != 0;
    if (!writes || kernel_parameters == nullptr) return;
    unsigned char* output = nullptr;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        if (kernel.parameters[i].size_bytes == sizeof output)
            output = *static_cast<unsigned char**>(kernel_parameters[i]);
    if (output != nullptr) ++*output;
}

CUresult launch(CUfunction function, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                std::uint32_t shared_bytes, CUstream stream, void** kernel_parameters, void** extra) {
    const auto* const kernel = reinterpret_cast<const Kernel*>(function);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    static const long error = number_from_environment("FAKE_CUDA_LAUNCH_ERROR", 0);
    if (error != 0) return static_cast<CUresult>(error);
    if (block[0] * block[1] * block[2] > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (takes_cubins() && default_stream_is_busy && !stream_of(stream).waits_for_default_stream)
        return CUDA_ERROR_LAUNCH_FAILED;
    if (!kernel->parameters.empty() && kernel_parameters == nullptr && extra == nullptr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    DeviceWork work;
    work.kernel_name = kernel->name.c_str();
    std::copy(std::begin(grid), std::end(grid), work.grid);
    std::copy(std::begin(block), std::end(block), work.block);
    work.dynamic_shared_bytes = shared_bytes;
    write_output(*kernel, kernel_parameters);
    return submit(stream, work);
}

DeviceWork work_of(const CUDA_KERNEL_NODE_PARAMS& parameters) {
    const void* const function = parameters.func != nullptr ? static_cast<const void*>(parameters.func)
                                                            : static_cast<const void*>(parameters.kern);
    DeviceWork work;
    work.kernel_name = static_cast<const Kernel*>(function)->name.c_str();
    work.grid[0] = parameters.gridDimX;
    work.block[0] = parameters.blockDimX;
    return work;
}

CUresult copy(void* destination, const void* source, std::size_t bytes, CUstream stream,
              CUpti_ActivityMemcpyKind kind, bool wait) {
    if (stream_of(stream).capturing == nullptr) std::memcpy(destination, source, bytes);
    DeviceWork work;
    work.kind = DeviceWork::Kind::Copy;
    work.copy_kind = static_cast<std::uint8_t>(kind);
    work.pageable = kind != CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    work.bytes = bytes;
    const CUresult result = submit(stream, work);
    if (wait) wait_until(stream_of(stream).busy_until_ns);
    return result;
}

void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

CUresult parameter_info(const Kernel& kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    if (index >= kernel.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = kernel.parameters[index].byte_offset;
    if (size != nullptr) *size = kernel.parameters[index].size_bytes;
    return CUDA_SUCCESS;
}

/// The entries of PTX text and their parameters, each `.param .u64 name` at its natural alignment. Whether
/// the bodies could be compiled is not checked.
FakeImage read_ptx(std::string_view text) {
    auto* const kernels = new std::vector<FakeKernel>;
    static constexpr std::string_view kEntry = ".entry ";
    for (std::size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at)) {
        at += kEntry.size();
        const std::size_t open = std::min(text.find('(', at), text.size());
        const std::size_t close = std::min(text.find(')', open), text.size());
        auto* const name = new std::string(text.substr(at, open - at));
        auto* const parameters = new std::vector<FakeParameter>;
        std::uint32_t offset = 0;
        static constexpr std::string_view kParameter = ".param .";
        for (std::size_t from = text.find(kParameter, open); from < close;
             from = text.find(kParameter, from)) {
            from += kParameter.size() + 1; // the letter of the type: u64, f32, b16
            const auto bytes = static_cast<std::uint32_t>(
                std::strtoul(std::string(text.substr(from, 2)).c_str(), nullptr, 10) / 8);
            if (bytes == 0) break;
            offset = (offset + bytes - 1) / bytes * bytes;
            parameters->push_back({offset, bytes});
            offset += bytes;
        }
        kernels->push_back(
            {name->c_str(), parameters->data(), static_cast<std::uint32_t>(parameters->size())});
        at = close;
    }
    return {kImageMagic, kernels->data(), kernels->size()};
}

/// Completes a load: tells CUPTI of a cubin that holds the module's kernels.
CUresult add_module(const FakeImage& image, bool is_cubin, Module** module) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < image.kernel_count; ++i)
        names.emplace_back(image.kernels[i].name);
    *module = new Module{image, is_cubin, cubin_with(names)};
    if (hooks.on_module_load != nullptr)
        hooks.on_module_load({next_module_id++, (*module)->cubin.data(), (*module)->cubin.size()});
    return CUDA_SUCCESS;
}

CUresult load_image(const void* image, Module** module) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    FakeImage contents;
    std::memcpy(&contents.magic, image, sizeof contents.magic);
    if (contents.magic == kImageMagic) {
        std::memcpy(&contents, image, sizeof contents);
        return add_module(contents, false, module);
    }
    if (stand_in != nullptr) return add_module(*stand_in, false, module);
    if (std::strncmp(static_cast<const char*>(image), ".version ", 9) == 0)
        return add_module(read_ptx(static_cast<const char*>(image)), false, module);
    if (takes_cubins() && std::memcmp(image,
                                      "\x7f"
                                      "ELF",
                                      4) == 0)
        return add_module({}, true, module);
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult load_file(const char* path, Module** module) {
    std::FILE* const file = std::fopen(path, "rb");
    if (file == nullptr) return CUDA_ERROR_FILE_NOT_FOUND;
    char start[sizeof(FakeImage)] = {};
    const std::size_t count = std::fread(start, 1, sizeof start, file);
    std::fclose(file);
    return count == 0 ? CUDA_ERROR_INVALID_IMAGE : load_image(start, module);
}

CUresult find_kernel(const Module& module, const char* name, bool is_library_kernel, Kernel** found) {
    if (module.is_cubin) {
        *found = new Kernel{is_library_kernel, name, {}};
        return CUDA_SUCCESS;
    }
    for (std::size_t i = 0; i < module.image.kernel_count; ++i) {
        const FakeKernel& kernel = module.image.kernels[i];
        if (std::strcmp(kernel.name, name) != 0) continue;
        *found = new Kernel{
            is_library_kernel, kernel.name, {kernel.parameters, kernel.parameters + kernel.parameter_count}};
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

/// As the real driver does: the library's InitializeInjection runs inside cuInit.
void load_injection() {
    const char* const path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr || *path == '\0') return;
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    if (auto* const initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
        initialise();
}

} // namespace

FAKE_API void fake_cuda_set_hooks(const Hooks* new_hooks) {
    hooks = *new_hooks;
}

FAKE_API void fake_cuda_load_images_as(const FakeImage* image) {
    stand_in = image;
}

FAKE_API std::uint32_t fake_cuda_graph_exec_id(CUgraphExec graph) {
    return reinterpret_cast<const Graph*>(graph)->id;
}

FAKE_API std::uint64_t fake_cuda_graph_node_id(CUgraphNode node) {
    return reinterpret_cast<const Node*>(node)->id;
}

// ---- initialisation, devices, contexts

FAKE_API CUresult cuInit(unsigned int) {
    static std::once_flag once;
    static CUresult result = CUDA_SUCCESS;
    std::call_once(once, [] {
        load_injection();
        result = static_cast<CUresult>(number_from_environment("FAKE_CUDA_INIT_ERROR", CUDA_SUCCESS));
        initialised = result == CUDA_SUCCESS;
    });
    return result;
}

FAKE_API CUresult cuDriverGetVersion(int* version) {
    *version = static_cast<int>(number_from_environment("FAKE_CUDA_DRIVER_VERSION", 13'000));
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

FAKE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

FAKE_API CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
    for (int i = 0; i < 16; ++i)
        uuid->bytes[i] = static_cast<char>(i * 17);
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{8} << 30U;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = 50 << 20;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = 3'000'000;
        break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = 6'144;
        break;
    default:
        *value = 0;
        break;
    }
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = reinterpret_cast<CUcontext>(&the_context);
    static std::atomic_flag created;
    if (initialised && !created.test_and_set() && hooks.on_context_created != nullptr)
        hooks.on_context_created(*context);
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

FAKE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int, CUdevice device) {
    const CUresult result = cuDevicePrimaryCtxRetain(context, device);
    current_context = *context;
    return result;
}

FAKE_API CUresult cuCtxDestroy_v2(CUcontext) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxSetCurrent(CUcontext context) {
    current_context = context;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current_context;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxSynchronize() {
    return traced(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", 0, [] {
        wait_until(device_busy_until_ns);
        default_stream_is_busy = false;
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuGetErrorName(CUresult error, const char** text) {
    *text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_FROM_FAKE_DRIVER";
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGetErrorString(CUresult error, const char** text) {
    *text = error == CUDA_SUCCESS ? "no error" : "error of the fake driver";
    return CUDA_SUCCESS;
}

// ---- modules and kernels

FAKE_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return traced(CALL(cuModuleLoadData, module, image),
                  [&]() -> CUresult { return load_image(image, reinterpret_cast<Module**>(module)); });
}

FAKE_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int option_count,
                                     CUjit_option* options, void** values) {
    return traced(CALL(cuModuleLoadDataEx, module, image, option_count, options, values),
                  [&]() -> CUresult { return load_image(image, reinterpret_cast<Module**>(module)); });
}

FAKE_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    return traced(CALL(cuModuleLoadFatBinary, module, image),
                  [&]() -> CUresult { return load_image(image, reinterpret_cast<Module**>(module)); });
}

FAKE_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
    return traced(CALL(cuModuleLoad, module, path),
                  [&]() -> CUresult { return load_file(path, reinterpret_cast<Module**>(module)); });
}

FAKE_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                                        void** values, unsigned int count, CUlibraryOption* library_options,
                                        void** library_values, unsigned int library_count) {
    return traced(CALL(cuLibraryLoadFromFile, library, path, options, values, count, library_options,
                       library_values, library_count),
                  [&]() -> CUresult { return load_file(path, reinterpret_cast<Module**>(library)); });
}

FAKE_API CUresult cuModuleUnload(CUmodule module) {
    return traced(CALL(cuModuleUnload, module), [&]() -> CUresult {
        if (hooks.on_module_unload != nullptr) hooks.on_module_unload();
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    return find_kernel(*reinterpret_cast<Module*>(module), name, false, reinterpret_cast<Kernel**>(function));
}

FAKE_API CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                                    void** values, unsigned int count, CUlibraryOption* library_options,
                                    void** library_values, unsigned int library_count) {
    return traced(CALL(cuLibraryLoadData, library, image, options, values, count, library_options,
                       library_values, library_count),
                  [&]() -> CUresult { return load_image(image, reinterpret_cast<Module**>(library)); });
}

FAKE_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
    return find_kernel(*reinterpret_cast<Module*>(library), name, true, reinterpret_cast<Kernel**>(kernel));
}

FAKE_API CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                     std::size_t* size) {
    const auto& kernel = *reinterpret_cast<const Kernel*>(function);
    if (kernel.is_library_kernel) return CUDA_ERROR_INVALID_HANDLE;
    return parameter_info(kernel, index, offset, size);
}

FAKE_API CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset,
                                       std::size_t* size) {
    const auto& kernel = *reinterpret_cast<const Kernel*>(handle);
    if (!kernel.is_library_kernel) return CUDA_ERROR_INVALID_HANDLE;
    return parameter_info(kernel, index, offset, size);
}

FAKE_API CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                 unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                 unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                 void** kernel_parameters, void** extra) {
    return traced(
        CALL(cuLaunchKernel, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
             stream, kernel_parameters, extra),
        [&]() -> CUresult {
            return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                          stream, kernel_parameters, extra);
        },
        name_of(function));
}

FAKE_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                   void** kernel_parameters, void** extra) {
    return traced(
        CALL(cuLaunchKernelEx, config, function, kernel_parameters, extra),
        [&]() -> CUresult {
            return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                          {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                          config->hStream, kernel_parameters, extra);
        },
        name_of(function));
}

FAKE_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                            unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                            unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                            void** kernel_parameters) {
    return traced(
        CALL(cuLaunchCooperativeKernel, function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
             shared_bytes, stream, kernel_parameters),
        [&]() -> CUresult {
            return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                          stream, kernel_parameters, nullptr);
        },
        name_of(function));
}

FAKE_API CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* launches, unsigned int count,
                                                       unsigned int flags) {
    return traced(CALL(cuLaunchCooperativeKernelMultiDevice, launches, count, flags), [&]() -> CUresult {
        for (unsigned int i = 0; i < count; ++i) {
            const CUDA_LAUNCH_PARAMS& one = launches[i];
            const CUresult result = launch(one.function, {one.gridDimX, one.gridDimY, one.gridDimZ},
                                           {one.blockDimX, one.blockDimY, one.blockDimZ}, one.sharedMemBytes,
                                           one.hStream, one.kernelParams, nullptr);
            if (result != CUDA_SUCCESS) return result;
        }
        return CUDA_SUCCESS;
    });
}

// ---- memory

FAKE_API CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    return traced(CALL(cuMemAlloc_v2, address, bytes), [&]() -> CUresult {
        void* const memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
        if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        *address = reinterpret_cast<CUdeviceptr>(memory);
        {
            const std::lock_guard guard(state_mutex);
            allocations[*address] = bytes;
        }
        if (hooks.on_memory != nullptr) hooks.on_memory({false, *address, bytes, current_correlation_id});
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* start, std::size_t* bytes, CUdeviceptr address) {
    const std::lock_guard guard(state_mutex);
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return CUDA_ERROR_NOT_FOUND;
    const auto& [first, size] = *--after;
    if (address - first >= size) return CUDA_ERROR_NOT_FOUND;
    *start = first;
    *bytes = size;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuMemFree_v2(CUdeviceptr address) {
    return traced(CALL(cuMemFree_v2, address), [&]() -> CUresult {
        std::size_t bytes = 0;
        {
            const std::lock_guard guard(state_mutex);
            const auto found = allocations.find(address);
            if (found == allocations.end()) return CUDA_ERROR_INVALID_VALUE;
            bytes = found->second;
            allocations.erase(found);
        }
        std::free(pointer(address));
        if (hooks.on_memory != nullptr) hooks.on_memory({true, address, bytes, current_correlation_id});
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, std::size_t bytes) {
    return traced(CALL(cuMemcpyHtoD_v2, destination, source, bytes), [&]() -> CUresult {
        default_stream_is_busy = true; // a pageable source may be staged when the call returns
        return copy(pointer(destination), source, bytes, nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, true);
    });
}

FAKE_API CUresult cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, std::size_t bytes) {
    return traced(CALL(cuMemcpyDtoH_v2, destination, source, bytes), [&]() -> CUresult {
        default_stream_is_busy = false;
        return copy(destination, pointer(source), bytes, nullptr, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, true);
    });
}

FAKE_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source, std::size_t bytes,
                                       CUstream stream) {
    return traced(CALL(cuMemcpyHtoDAsync_v2, destination, source, bytes, stream), [&]() -> CUresult {
        return copy(pointer(destination), source, bytes, stream, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, false);
    });
}

FAKE_API CUresult cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, std::size_t bytes,
                                       CUstream stream) {
    return traced(CALL(cuMemcpyDtoHAsync_v2, destination, source, bytes, stream), [&]() -> CUresult {
        return copy(destination, pointer(source), bytes, stream, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, false);
    });
}

FAKE_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                                       CUstream stream) {
    return traced(CALL(cuMemcpyDtoDAsync_v2, destination, source, bytes, stream), [&]() -> CUresult {
        return copy(pointer(destination), pointer(source), bytes, stream, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
                    false);
    });
}

FAKE_API CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, std::size_t bytes) {
    return traced(CALL(cuMemsetD8_v2, destination, value, bytes), [&]() -> CUresult {
        default_stream_is_busy = true;
        std::memset(pointer(destination), value, bytes);
        DeviceWork work;
        work.kind = DeviceWork::Kind::Fill;
        work.bytes = bytes;
        return submit(nullptr, work);
    });
}

FAKE_API CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, std::size_t bytes,
                                  CUstream stream) {
    return traced(CALL(cuMemsetD8Async, destination, value, bytes, stream), [&]() -> CUresult {
        if (stream_of(stream).capturing == nullptr) std::memset(pointer(destination), value, bytes);
        DeviceWork work;
        work.kind = DeviceWork::Kind::Fill;
        work.bytes = bytes;
        return submit(stream, work);
    });
}

// ---- streams and events

FAKE_API CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
    const bool waits = (flags & CU_STREAM_NON_BLOCKING) == 0;
    *stream = reinterpret_cast<CUstream>(new Stream{next_stream_id++, 0, nullptr, waits});
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

FAKE_API CUresult cuStreamDestroy_v2(CUstream) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamSynchronize(CUstream stream) {
    return traced(CALL(cuStreamSynchronize, stream), [&]() -> CUresult {
        if (stream_of(stream).capturing != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        wait_until(stream_of(stream).busy_until_ns);
        if (stream == nullptr) default_stream_is_busy = false;
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuEventCreate(CUevent* event, unsigned int) {
    *event = reinterpret_cast<CUevent>(new Event);
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuEventDestroy_v2(CUevent) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
    return traced(CALL(cuEventRecord, event, stream), [&]() -> CUresult {
        reinterpret_cast<Event*>(event)->time_ns = std::max(now_ns(), stream_of(stream).busy_until_ns);
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuEventSynchronize(CUevent event) {
    return traced(CALL(cuEventSynchronize, event), [&]() -> CUresult {
        wait_until(reinterpret_cast<Event*>(event)->time_ns);
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuProfilerStart() {
    return traced(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart", 0, [] { return CUDA_SUCCESS; });
}

FAKE_API CUresult cuProfilerStop() {
    return traced(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop", 0, [] { return CUDA_SUCCESS; });
}

FAKE_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    *milliseconds = static_cast<float>(reinterpret_cast<Event*>(end)->time_ns -
                                       reinterpret_cast<Event*>(start)->time_ns) /
                    1e6F;
    return CUDA_SUCCESS;
}

// ---- graphs

FAKE_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
    return traced(CALL(cuStreamBeginCapture_v2, stream, mode), [&]() -> CUresult {
        if (stream == nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        stream_of(stream).capturing = new Graph{next_graph_id++, {}};
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    return traced(CALL(cuStreamEndCapture, stream, graph), [&]() -> CUresult {
        if (stream_of(stream).capturing == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
        *graph = reinterpret_cast<CUgraph>(std::exchange(stream_of(stream).capturing, nullptr));
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuStreamGetCtx(CUstream, CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(&the_context);
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream_of(stream).capturing != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                     : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                              unsigned long long flags) {
    return traced(CALL(cuGraphInstantiateWithFlags, executable, graph, flags), [&]() -> CUresult {
        auto* const clone = new Graph{next_graph_id++, {}};
        for (Node& original : reinterpret_cast<Graph*>(graph)->nodes) {
            Node& node = add_node(*clone, original.work); // CUPTI reports clones as created, too
            node.original = &original;
            tell(GraphNodeEvent::Change::Cloned, &node, &original);
        }
        *executable = reinterpret_cast<CUgraphExec>(clone);
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
    auto& held = reinterpret_cast<Graph*>(graph)->nodes;
    if (nodes != nullptr)
        for (std::size_t i = 0; i < std::min(*count, held.size()); ++i)
            nodes[i] = reinterpret_cast<CUgraphNode>(&held[i]);
    *count = held.size();
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGraphUpload(CUgraphExec, CUstream) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
    return traced(CALL(cuGraphLaunch, executable, stream), [&]() -> CUresult {
        const auto& graph = *reinterpret_cast<Graph*>(executable);
        GraphLaunchEvent event;
        event.correlation_id = current_correlation_id;
        event.graph_id = graph.id;
        event.stream_id = stream_of(stream).id;
        for (const Node& node : graph.nodes) {
            DeviceWork work = node.work;
            work.correlation_id = current_correlation_id;
            work.graph_id = graph.id;
            work.graph_node_id = node.id;
            event.end_ns = run_on_device(stream_of(stream), work);
            if (event.start_ns == 0) event.start_ns = event.end_ns;
        }
        if (hooks.on_graph_launch != nullptr) hooks.on_graph_launch(event);
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuGraphCreate(CUgraph* graph, unsigned int) {
    *graph = reinterpret_cast<CUgraph>(new Graph{next_graph_id++, {}});
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                          std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
    return traced(CALL(cuGraphAddKernelNode_v2, node, graph, dependencies, count, parameters),
                  [&]() -> CUresult {
                      Node& added = add_node(*reinterpret_cast<Graph*>(graph), work_of(*parameters));
                      *node = reinterpret_cast<CUgraphNode>(&added);
                      return CUDA_SUCCESS;
                  });
}

FAKE_API CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                       std::size_t count, const CUDA_MEMCPY3D* parameters,
                                       CUcontext context) {
    return traced(CALL(cuGraphAddMemcpyNode, node, graph, dependencies, count, parameters, context),
                  [&]() -> CUresult {
                      DeviceWork work;
                      work.kind = DeviceWork::Kind::Copy;
                      work.copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
                      work.bytes = parameters->WidthInBytes * parameters->Height * parameters->Depth;
                      Node& added = add_node(*reinterpret_cast<Graph*>(graph), work);
                      *node = reinterpret_cast<CUgraphNode>(&added);
                      return CUDA_SUCCESS;
                  });
}

FAKE_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
    return traced(CALL(cuGraphKernelNodeSetParams_v2, node, parameters), [&]() -> CUresult {
        reinterpret_cast<Node*>(node)->work = work_of(*parameters);
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode original,
                                                    const CUDA_KERNEL_NODE_PARAMS* parameters) {
    return traced(CALL(cuGraphExecKernelNodeSetParams_v2, executable, original, parameters),
                  [&]() -> CUresult {
                      for (Node& node : reinterpret_cast<Graph*>(executable)->nodes) {
                          if (node.original != reinterpret_cast<Node*>(original)) continue;
                          node.work = work_of(*parameters);
                          tell(GraphNodeEvent::Change::Set, &node, node.original);
                          return CUDA_SUCCESS;
                      }
                      return CUDA_ERROR_INVALID_VALUE;
                  });
}

FAKE_API CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                                       CUgraphExecUpdateResultInfo* result) {
    return traced(CALL(cuGraphExecUpdate_v2, executable, graph, result), [&]() -> CUresult {
        auto& nodes = reinterpret_cast<Graph*>(executable)->nodes;
        const auto& sources = reinterpret_cast<Graph*>(graph)->nodes;
        if (nodes.size() != sources.size()) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes[i].work = sources[i].work;
            tell(GraphNodeEvent::Change::Updated, &sources[i], &nodes[i]);
            tell(GraphNodeEvent::Change::Set, &nodes[i], nodes[i].original);
        }
        return CUDA_SUCCESS;
    });
}

FAKE_API CUresult cuGraphDestroy(CUgraph) {
    return CUDA_SUCCESS;
}

FAKE_API CUresult cuGraphExecDestroy(CUgraphExec) {
    return CUDA_SUCCESS;
}
