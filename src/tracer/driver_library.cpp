#include "src/tracer/driver_library.hpp"

#include "src/tracer/recording.hpp"

#include <cstring>

#include <dlfcn.h>

namespace deepjit::tracer {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(dlsym(library, name));
}

} // namespace

void DriverLibrary::open() noexcept {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) return;
    find(library, "cuDriverGetVersion", driver_get_version);
    find(library, "cuDeviceGetCount", device_get_count);
    find(library, "cuDeviceGet", device_get);
    find(library, "cuDeviceGetName", device_get_name);
    find(library, "cuDeviceGetUuid_v2", device_get_uuid);
    find(library, "cuDeviceGetAttribute", device_get_attribute);
    find(library, "cuDeviceTotalMem_v2", device_total_mem);
    find(library, "cuFuncGetParamInfo", func_get_param_info);
    find(library, "cuKernelGetParamInfo", kernel_get_param_info);
    find(library, "cuStreamIsCapturing", stream_is_capturing);
    find(library, "cuStreamGetCtx", stream_get_ctx);
    find(library, "cuStreamSynchronize", stream_synchronize);
    find(library, "cuMemGetAddressRange_v2", mem_get_address_range);
    find(library, "cuMemcpyDtoH_v2", memcpy_dtoh);
    if (driver_get_version == nullptr || driver_get_version(&version) != CUDA_SUCCESS) version = 0;
}

bool DriverLibrary::record_devices() const noexcept {
    if (device_get_count == nullptr || device_get == nullptr || device_get_attribute == nullptr) return false;
    int count = 0;
    if (device_get_count(&count) != CUDA_SUCCESS) return false;
    for (int index = 0; index < count; ++index) {
        CUdevice device = 0;
        if (device_get(&device, index) != CUDA_SUCCESS) continue;
        const auto attribute = [&](CUdevice_attribute name) {
            int value = 0;
            return device_get_attribute(&value, name, device) == CUDA_SUCCESS ? value : 0;
        };
        wire::Device record;
        record.device_id = static_cast<std::uint32_t>(index);
        CUuuid uuid{};
        if (device_get_uuid != nullptr && device_get_uuid(&uuid, device) == CUDA_SUCCESS) {
            std::memcpy(record.uuid, &uuid, sizeof record.uuid);
        }
        record.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        record.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        record.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        record.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        std::size_t memory_bytes = 0;
        if (device_total_mem != nullptr && device_total_mem(&memory_bytes, device) == CUDA_SUCCESS) {
            record.memory_bytes = static_cast<std::int64_t>(memory_bytes);
        }
        // Double data rate: two transfers of the bus width a clock.
        record.memory_bytes_per_second = std::int64_t{2} * 1000 *
                                         attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                                         attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
        char name[256] = {};
        if (device_get_name != nullptr) device_get_name(name, sizeof name - 1, device);
        recording().define(record, name);
    }
    return true;
}

} // namespace deepjit::tracer
