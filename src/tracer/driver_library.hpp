#pragma once

#include <cuda.h>

namespace deepjit::tracer {

/// The functions of libcuda that the tracer calls, taken from the copy that the target has loaded. Any may be
/// null.
struct DriverLibrary {
    decltype(&cuDriverGetVersion) driver_get_version = nullptr;
    decltype(&cuDeviceGetCount) device_get_count = nullptr;
    decltype(&cuDeviceGet) device_get = nullptr;
    decltype(&cuDeviceGetName) device_get_name = nullptr;
    decltype(&cuDeviceGetUuid) device_get_uuid = nullptr;
    decltype(&cuDeviceGetAttribute) device_get_attribute = nullptr;
    decltype(&cuDeviceTotalMem) device_total_mem = nullptr;
    decltype(&cuFuncGetParamInfo) func_get_param_info = nullptr;     ///< 12.4
    decltype(&cuKernelGetParamInfo) kernel_get_param_info = nullptr; ///< 12.4
    decltype(&cuStreamIsCapturing) stream_is_capturing = nullptr;
    decltype(&cuStreamGetCtx) stream_get_ctx = nullptr;
    decltype(&cuStreamSynchronize) stream_synchronize = nullptr;
    decltype(&cuMemGetAddressRange) mem_get_address_range = nullptr;
    decltype(&cuMemcpyDtoH) memcpy_dtoh = nullptr;

    int version = 0; ///< 13000 for 13.0, 0 unknown

    void open() noexcept;

    /// Defines every device of the machine in the recording. False where the driver does not answer, which it
    /// does not before cuInit has returned.
    bool record_devices() const noexcept;
};

} // namespace deepjit::tracer
