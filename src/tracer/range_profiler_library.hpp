#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

namespace deepjit::tracer {

/// The functions of CUPTI that measure counters: the Range Profiler and what prepares and evaluates for it.
struct RangeProfilerLibrary {
    decltype(&cuptiProfilerInitialize) initialize = nullptr;
    decltype(&cuptiProfilerGetCounterAvailability) get_counter_availability = nullptr;
    decltype(&cuptiDeviceGetChipName) get_chip_name = nullptr;
    decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) host_add_metrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) host_get_config_size = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) host_get_config = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) host_get_passes = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) host_evaluate = nullptr;
    decltype(&cuptiRangeProfilerEnable) enable = nullptr;
    decltype(&cuptiRangeProfilerDisable) disable = nullptr;
    decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
    decltype(&cuptiRangeProfilerStart) start = nullptr;
    decltype(&cuptiRangeProfilerStop) stop = nullptr;
    decltype(&cuptiRangeProfilerDecodeData) decode_data = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataSize) get_data_size = nullptr;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_data = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) get_data_info = nullptr;
    decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) get_range_info = nullptr;

    /// `library` is the CUPTI in use. False where it has no Range Profiler, which came with CUDA 12.6.
    bool resolve(void* library) noexcept;
};

/// A parameter struct of those functions, zero but for its size.
#define DEEPJIT_CUPTI_PARAMETERS(type, name)                                                                 \
    type name{};                                                                                             \
    name.structSize = type##_STRUCT_SIZE

} // namespace deepjit::tracer
