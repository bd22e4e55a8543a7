#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Everything that talks to NVIDIA's libraries. They are opened at run time, never linked, so that the tool
/// starts on a machine that has none of them; each failure is a Diagnostic of kind Environment.
namespace deepjit::gpu {

/// Entry points of libcuda (src/gpu/driver_functions.hpp).
struct DriverFunctions;

/// libcuda, opened and initialised once per process.
class Driver {
  public:
    /// Opens libcuda on the first call ($DEEPJIT_CUDA_LIBRARY, else the loader's libcuda.so.1), initialises
    /// it and keeps it for the life of the process. A failure is kept too: the answer does not change.
    static Result<const Driver*> instance();

    /// Version of CUDA that the driver supports, as 1000 * major + 10 * minor: 13000.
    int cuda_version() const { return cuda_version_; }
    int device_count() const { return device_count_; }
    const std::string& library_path() const { return library_path_; }
    const DriverFunctions& functions() const { return *functions_; }

  private:
    Driver() = default;
    static Result<Driver> open();

    const DriverFunctions* functions_ = nullptr;
    std::string library_path_;
    int cuda_version_ = 0;
    int device_count_ = 0;
};

/// What a plan, a cache key and a report need to know of one device.
struct DeviceFacts {
    int index = 0;
    std::string name;
    std::string uuid; ///< "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as nvidia-smi prints it
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::int64_t l2_bytes = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t shared_bytes_per_block_optin = 0;
    int clock_khz = 0;        ///< highest, not the present one
    int memory_clock_khz = 0; ///< highest
    int memory_bus_bits = 0;
    int cuda_version = 0;              ///< of the driver, as Driver::cuda_version
    std::string kernel_driver_version; ///< "580.82.07", empty where the kernel module does not say

    /// "sm_90"
    std::string architecture() const;
    /// The kernel module's version, else that of CUDA: "580.82.07" or "CUDA 13.0".
    std::string driver_version() const;
};

Result<DeviceFacts> device_facts(int device_index);

/// A CUresult in words: "an illegal memory access (CUDA_ERROR_ILLEGAL_ADDRESS, 700) in cuLaunchKernel", with
/// a remedy where there is one. Needs no driver.
Diagnostic driver_error(int cu_result, std::string_view api);

} // namespace deepjit::gpu
