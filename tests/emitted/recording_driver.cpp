// The part of libcuda that an emitted launcher and its example use. Device memory is host memory, kernels
// compute nothing, and each launch is noted for the test that links this (launcher_check.cpp).
#include "recording_driver.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

std::mutex mutex;
std::map<CUfunction, std::string> names;
thread_local CUcontext current = nullptr;

template <class T>
T handle(std::uintptr_t number) {
    return reinterpret_cast<T>(number);
}

} // namespace

RecordingDriver& recording_driver() {
    static RecordingDriver driver;
    return driver;
}

extern "C" {
CUresult cuInit(unsigned int) {
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "a made-up error";
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int index) {
    *device = index;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    if (attribute == recording_driver().failing_attribute) return CUDA_ERROR_INVALID_VALUE;
    const int capability = recording_driver().capability;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? capability / 10 : capability % 10;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    ++recording_driver().primary_retains;
    *context = handle<CUcontext>(1);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
    *id = reinterpret_cast<std::uintptr_t>(context) + recording_driver().context_generation * 1000;
    return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode*) {
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    const std::lock_guard<std::mutex> lock(mutex);
    recording_driver().loaded_ptx = std::memcmp(image,
                                                "\x7f"
                                                "ELF",
                                                4) != 0;
    *module = handle<CUmodule>(++recording_driver().module_loads);
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) {
    ++recording_driver().module_unloads;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (recording_driver().missing_entry == name) return CUDA_ERROR_NOT_FOUND;
    *function = handle<CUfunction>(names.size() + 1);
    names[*function] = name;
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned int grid, unsigned int, unsigned int,
                        unsigned int block, unsigned int, unsigned int, unsigned int, CUstream stream,
                        void** arguments, void**) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (recording_driver().copies_not_waited_for > 0) return CUDA_ERROR_LAUNCH_FAILED;
    RecordedLaunch launch{names[function], grid, block, stream, {}};
    for (int i = 0; i < 4; ++i)
        launch.arguments.push_back(*static_cast<void**>(arguments[i]));
    recording_driver().launches.push_back(launch);
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned int) {
    *stream = handle<CUstream>(7);
    return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
    if (stream == nullptr) recording_driver().copies_not_waited_for = 0;
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    recording_driver().copies_not_waited_for = 0;
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
    *address = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
    // Returns when the source may be changed, which can be before the bytes have reached the device.
    ++recording_driver().copies_not_waited_for;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    if (stream == nullptr) return cuMemcpyHtoD(to, from, bytes);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream) {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return CUDA_SUCCESS;
}
}
