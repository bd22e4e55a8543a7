#include "src/gpu/driver.hpp"

#include "src/base/files.hpp"
#include "src/gpu/driver_functions.hpp"
#include "src/gpu/library_search.hpp"

#include <fmt/format.h>

#include <regex>

namespace deepjit::gpu {
namespace {

DriverFunctions g_functions;

/// Drivers older than CUDA 12.8 have only the first version of cuEventElapsedTime; its signature is the same.
void load_functions(void* library) {
#define DEEPJIT_LOAD(name)                                                                                   \
    g_functions.name =                                                                                       \
        reinterpret_cast<decltype(g_functions.name)>(find_symbol(library, DEEPJIT_CU_NAME(name)));
    DEEPJIT_DRIVER_FUNCTIONS(DEEPJIT_LOAD)
#undef DEEPJIT_LOAD
    if (g_functions.cuEventElapsedTime == nullptr)
        g_functions.cuEventElapsedTime = reinterpret_cast<decltype(g_functions.cuEventElapsedTime)>(
            find_symbol(library, "cuEventElapsedTime"));
}

/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build …" to "580.82.07".
std::string kernel_driver_version() {
    const auto text = read_file("/proc/driver/nvidia/version");
    if (!text) return {};
    std::smatch match;
    const std::string first_line = (*text).substr(0, (*text).find('\n'));
    return std::regex_search(first_line, match, std::regex(R"(\s(\d+\.\d+(\.\d+)?)\s)")) ? match[1].str()
                                                                                         : std::string();
}

std::string uuid_text(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}

Result<int> attribute(CUdevice device, CUdevice_attribute which) {
    int value = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceGetAttribute, &value, which, device));
    return value;
}

} // namespace

const DriverFunctions& driver_functions() {
    return g_functions;
}

Result<Driver> Driver::open() {
    DEEPJIT_TRY(const OpenedLibrary library,
                open_library({.title = "the NVIDIA driver library (libcuda.so.1)",
                              .environment_variable = "DEEPJIT_CUDA_LIBRARY",
                              .file_names = {"libcuda.so.1"},
                              .in_toolkit = false,
                              .hint = "install the NVIDIA driver; in a container start it with GPU access "
                                      "(docker run --gpus all)"}));
    load_functions(library.handle);
    Driver driver;
    driver.functions_ = &g_functions;
    driver.library_path_ = library.path;
    DEEPJIT_CHECK(DEEPJIT_CU(cuInit, 0U));
    DEEPJIT_CHECK(DEEPJIT_CU(cuDriverGetVersion, &driver.cuda_version_));
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceGetCount, &driver.device_count_));
    return driver;
}

Result<const Driver*> Driver::instance() {
    static const Result<Driver> opened = open();
    if (!opened) return opened.error();
    return &*opened;
}

std::string DeviceFacts::architecture() const {
    return fmt::format("sm_{}{}", compute_major, compute_minor);
}

std::string DeviceFacts::driver_version() const {
    if (!kernel_driver_version.empty()) return kernel_driver_version;
    return fmt::format("CUDA {}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

Result<DeviceFacts> device_facts(int device_index) {
    DEEPJIT_TRY(const Driver* driver, Driver::instance());
    if (device_index < 0 || device_index >= driver->device_count())
        return environment_error(fmt::format("there is no CUDA device {}", device_index),
                                 fmt::format("the driver shows {} device(s)", driver->device_count()),
                                 "check CUDA_VISIBLE_DEVICES and nvidia-smi -L");
    CUdevice device = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceGet, &device, device_index));
    DeviceFacts facts;
    facts.index = device_index;
    char name[256] = {};
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceGetName, name, static_cast<int>(sizeof name - 1), device));
    facts.name = name;
    CUuuid uuid{};
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceGetUuid, &uuid, device));
    facts.uuid = uuid_text(uuid);
    std::size_t memory_bytes = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuDeviceTotalMem, &memory_bytes, device));
    facts.memory_bytes = static_cast<std::int64_t>(memory_bytes);
    DEEPJIT_TRY(facts.compute_major, attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    DEEPJIT_TRY(facts.compute_minor, attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    DEEPJIT_TRY(facts.multiprocessors, attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    DEEPJIT_TRY(facts.l2_bytes, attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    DEEPJIT_TRY(facts.shared_bytes_per_block_optin,
                attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    DEEPJIT_TRY(facts.clock_khz, attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
    DEEPJIT_TRY(facts.memory_clock_khz, attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
    DEEPJIT_TRY(facts.memory_bus_bits, attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
    facts.cuda_version = driver->cuda_version();
    facts.kernel_driver_version = kernel_driver_version();
    return facts;
}

} // namespace deepjit::gpu
