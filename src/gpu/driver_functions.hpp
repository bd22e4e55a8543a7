#pragma once

#include "src/base/result.hpp"
#include "src/gpu/driver.hpp"

#include <cuda.h>

/// Private to this room: the only header besides the .cpp files that includes cuda.h.
namespace deepjit::gpu {

// cuda.h maps the plain names to the versions that belong to its structures (cuMemAlloc to cuMemAlloc_v2), in
// the declaration, the member and the symbol that is looked up alike.
#define DEEPJIT_DRIVER_FUNCTIONS(USE)                                                                        \
    USE(cuInit)                                                                                              \
    USE(cuDriverGetVersion)                                                                                  \
    USE(cuDeviceGetCount)                                                                                    \
    USE(cuDeviceGet)                                                                                         \
    USE(cuDeviceGetName)                                                                                     \
    USE(cuDeviceGetUuid)                                                                                     \
    USE(cuDeviceGetAttribute)                                                                                \
    USE(cuDeviceTotalMem)                                                                                    \
    USE(cuDevicePrimaryCtxRetain)                                                                            \
    USE(cuDevicePrimaryCtxRelease)                                                                           \
    USE(cuCtxSetCurrent)                                                                                     \
    USE(cuCtxSynchronize)                                                                                    \
    USE(cuModuleLoadDataEx)                                                                                  \
    USE(cuModuleUnload)                                                                                      \
    USE(cuModuleGetFunction)                                                                                 \
    USE(cuFuncGetAttribute)                                                                                  \
    USE(cuFuncSetAttribute)                                                                                  \
    USE(cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                         \
    USE(cuMemAlloc)                                                                                          \
    USE(cuMemFree)                                                                                           \
    USE(cuMemcpyHtoD)                                                                                        \
    USE(cuMemcpyDtoH)                                                                                        \
    USE(cuMemsetD8)                                                                                          \
    USE(cuStreamCreate)                                                                                      \
    USE(cuStreamDestroy)                                                                                     \
    USE(cuStreamSynchronize)                                                                                 \
    USE(cuStreamBeginCapture)                                                                                \
    USE(cuStreamEndCapture)                                                                                  \
    USE(cuEventCreate)                                                                                       \
    USE(cuEventDestroy)                                                                                      \
    USE(cuEventRecord)                                                                                       \
    USE(cuEventSynchronize)                                                                                  \
    USE(cuEventElapsedTime)                                                                                  \
    USE(cuGraphGetNodes)                                                                                     \
    USE(cuGraphInstantiate)                                                                                  \
    USE(cuGraphUpload)                                                                                       \
    USE(cuGraphLaunch)                                                                                       \
    USE(cuGraphExecDestroy)                                                                                  \
    USE(cuGraphDestroy)                                                                                      \
    USE(cuLaunchKernel)                                                                                      \
    USE(cuLaunchCooperativeKernel)

/// Each is null where the driver lacks it; call through invoke().
struct DriverFunctions {
#define DEEPJIT_DECLARE(name) decltype(&::name) name = nullptr;
    DEEPJIT_DRIVER_FUNCTIONS(DEEPJIT_DECLARE)
#undef DEEPJIT_DECLARE
};

/// Calls one entry point and turns its CUresult into a Result. `name` goes into the message.
template <class... Parameters, class... Arguments>
Result<void> invoke(const char* name, CUresult (*function)(Parameters...), Arguments... arguments) {
    const CUresult result =
        function == nullptr ? CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER : function(arguments...);
    if (result == CUDA_SUCCESS) return {};
    return driver_error(static_cast<int>(result), name);
}

/// Entry points of the driver that is known to be open, because an object made by it exists.
const DriverFunctions& driver_functions();

} // namespace deepjit::gpu

#define DEEPJIT_CU_NAME_INNER(name) #name
#define DEEPJIT_CU_NAME(name) DEEPJIT_CU_NAME_INNER(name)
/// `DEEPJIT_CU(cuMemAlloc, &address, bytes)` is a Result<void>.
#define DEEPJIT_CU(name, ...)                                                                                \
    ::deepjit::gpu::invoke(DEEPJIT_CU_NAME(name),                                                            \
                           ::deepjit::gpu::driver_functions().name __VA_OPT__(, ) __VA_ARGS__)
