#include "src/gpu/driver_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deepjit::gpu {
namespace {

struct KnownError {
    CUresult code;
    std::string_view name;
    std::string_view sentence;
    std::string_view hint;
    ErrorKind kind = ErrorKind::Failed;
};

constexpr std::string_view kRestartHint =
    "the context is lost: the process must restart; compute-sanitizer finds the access";

constexpr std::array kKnownErrors = {
    KnownError{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "an argument is out of range", ""},
    KnownError{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "the GPU is out of memory",
               "free memory on the device (nvidia-smi lists its users) or use smaller buffers"},
    KnownError{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "the driver is not initialised", "",
               ErrorKind::Environment},
    KnownError{CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "the driver is shutting down", ""},
    KnownError{CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY",
               "the loader found the toolkit's stub in place of the driver",
               "remove the stubs folder from LD_LIBRARY_PATH", ErrorKind::Environment},
    KnownError{CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
               "the driver is too old for this call", "update the NVIDIA driver", ErrorKind::Environment},
    KnownError{CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
               "the GPU is busy or unavailable",
               "another process may hold it exclusively (nvidia-smi -q -d COMPUTE)", ErrorKind::Environment},
    KnownError{CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "the driver found no CUDA device",
               "check CUDA_VISIBLE_DEVICES, nvidia-smi -L, and that a container was given the GPU",
               ErrorKind::Environment},
    KnownError{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "there is no such device",
               "check the device number and CUDA_VISIBLE_DEVICES", ErrorKind::Environment},
    KnownError{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
               "the device code is damaged or no device code", ""},
    KnownError{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
               "no context is current on this thread", ""},
    KnownError{CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
               "the device code was built for another GPU", "compile it for this device's architecture"},
    KnownError{CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
               "the GPU met an uncorrectable memory error", "reset or replace the GPU (nvidia-smi -q -d ECC)",
               ErrorKind::Environment},
    KnownError{CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "the driver cannot compile the PTX", ""},
    KnownError{CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
               "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is missing",
               "install the whole driver, or give the container the compute and utility capabilities",
               ErrorKind::Environment},
    KnownError{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
               "the PTX is of a newer toolkit than the driver knows",
               "update the driver, or compile to a cubin (sm_XX in place of compute_XX)"},
    KnownError{CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM",
               "the operating system refused a call", "", ErrorKind::Environment},
    KnownError{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "a handle is not valid here", ""},
    KnownError{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "there is nothing of that name", ""},
    KnownError{CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "the work has not completed yet", ""},
    KnownError{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
               "a kernel accessed memory that is not allocated", kRestartHint},
    KnownError{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
               "the kernel needs more registers or shared memory than a block may have",
               "use smaller blocks"},
    KnownError{CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT",
               "the kernel ran longer than the display's watchdog allows", kRestartHint},
    KnownError{CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "an assertion in a kernel failed", kRestartHint},
    KnownError{CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
               "a kernel met an illegal instruction", kRestartHint},
    KnownError{CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS",
               "a kernel accessed an address that its access width does not divide", kRestartHint},
    KnownError{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed while it ran",
               kRestartHint},
    KnownError{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
               "a cooperative launch has more blocks than fit on the GPU at once", "launch fewer blocks"},
    KnownError{CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "the driver does not permit this here",
               ""},
    KnownError{CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
               "this device or driver does not support that", "", ErrorKind::Environment},
    KnownError{CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY", "the GPU system is not ready",
               "start nvidia-fabricmanager on machines with NVSwitch", ErrorKind::Environment},
    KnownError{
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "the driver library and the kernel module have different versions",
        "restart the machine after a driver update, or mount the host's own libcuda into the container",
        ErrorKind::Environment},
    KnownError{CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
               "the forward-compatibility package does not support this GPU",
               "remove the compat folder from LD_LIBRARY_PATH", ErrorKind::Environment},
    KnownError{CUDA_ERROR_MPS_CONNECTION_FAILED, "CUDA_ERROR_MPS_CONNECTION_FAILED",
               "the MPS server does not answer",
               "restart nvidia-cuda-mps-control, or unset CUDA_MPS_PIPE_DIRECTORY", ErrorKind::Environment},
    KnownError{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
               "this call cannot be captured into a graph", ""},
    KnownError{CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
               "the graph capture was broken by an earlier error", ""},
    KnownError{CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "the driver met an unknown error",
               "see the kernel log (dmesg | grep -i xid)", ErrorKind::Environment},
};

} // namespace

Diagnostic driver_error(int cu_result, std::string_view api) {
    const auto known = std::find_if(kKnownErrors.begin(), kKnownErrors.end(), [&](const KnownError& error) {
        return static_cast<int>(error.code) == cu_result;
    });
    if (known == kKnownErrors.end())
        return failure(fmt::format("the driver reported error {}", cu_result), fmt::format("{} failed", api));
    return {known->kind, std::string(known->sentence),
            fmt::format("{} answered {} ({})", api, known->name, cu_result), std::string(known->hint)};
}

} // namespace deepjit::gpu
