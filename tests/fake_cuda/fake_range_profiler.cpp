#include "tests/fake_cuda/fake_range_profiler.hpp"

#include "tests/fake_cuda/environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <time.h>

// A kernel of N threads reads 4·N bytes of DRAM and writes 2·N, and reads N/4 sectors of L2 and writes N/8.
// The counter data image holds ranges in the reverse of their order, which the real one does not promise.

#define FAKE_API extern "C" __attribute__((visibility("default")))

struct CUpti_Profiler_Host_Object {
    std::vector<std::string> metrics;
};
struct CUpti_RangeProfiler_Object {
    int unused;
};

namespace {

struct ImageHeader {
    std::uint64_t capacity;
    std::uint64_t ranges;
};

std::mutex range_profiler_mutex;
CUpti_RangeProfiler_Object the_object;
bool running = false;
bool has_data = false;
std::vector<double> measured; ///< threads of each kernel
std::size_t dropped = 0;
std::size_t max_ranges = 0;
std::uint8_t* image = nullptr;

CUptiResult error_from(const char* variable) {
    return static_cast<CUptiResult>(fake_cuda::number_from_environment(variable, 0));
}

double* threads_in(std::uint8_t* bytes) {
    return reinterpret_cast<double*>(bytes + sizeof(ImageHeader));
}

/// The value of a metric, or a negative number where it is unknown.
double value_of(std::string_view metric, double threads) {
    if (metric == "dram__bytes_read.sum") return threads * 4;
    if (metric == "dram__bytes_write.sum") return threads * 2;
    if (metric == "lts__t_sectors_op_read.sum") return threads / 4;
    if (metric == "lts__t_sectors_op_write.sum") return threads / 8;
    return -1;
}

} // namespace

bool fake_cuda::measure_kernel(const DeviceWork& kernel) {
    const std::lock_guard guard(range_profiler_mutex);
    if (!running) return false;
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const std::int64_t left_ns = kernel.end_ns - (time.tv_sec * 1'000'000'000L + time.tv_nsec);
    if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
    if (measured.size() == max_ranges) {
        ++dropped;
        return true;
    }
    double threads = 1;
    for (int axis = 0; axis < 3; ++axis)
        threads *= static_cast<double>(kernel.grid[axis]) * kernel.block[axis];
    measured.push_back(threads);
    return true;
}

FAKE_API CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
    return error_from("FAKE_CUDA_PROFILER_ERROR");
}

FAKE_API CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* get) {
    get->counterAvailabilityImageSize = 16;
    return error_from("FAKE_CUDA_COUNTER_ERROR");
}

FAKE_API CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* get) {
    get->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* initialize) {
    if (std::strcmp(initialize->pChipName, "GH100") != 0) return CUPTI_ERROR_INVALID_CHIP_NAME;
    initialize->pHostObject = new CUpti_Profiler_Host_Object;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* release) {
    delete release->pHostObject;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* add) {
    for (std::size_t i = 0; i < add->numMetrics; ++i) {
        if (value_of(add->ppMetricNames[i], 1) < 0) return CUPTI_ERROR_INVALID_METRIC_NAME;
        add->pHostObject->metrics.emplace_back(add->ppMetricNames[i]);
    }
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* get) {
    get->configImageSize = sizeof(std::uint64_t);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* get) {
    const std::uint64_t metrics = get->pHostObject->metrics.size();
    std::memcpy(get->pConfigImage, &metrics, sizeof metrics);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* get) {
    static const long per_pass = fake_cuda::number_from_environment("FAKE_CUDA_METRICS_PER_PASS", 4);
    std::uint64_t metrics = 0;
    std::memcpy(&metrics, get->pConfigImage, sizeof metrics);
    const auto in_pass = static_cast<std::uint64_t>(std::max(per_pass, 1L));
    get->numOfPasses = (metrics + in_pass - 1) / in_pass;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* evaluate) {
    auto* const bytes = const_cast<std::uint8_t*>(evaluate->pCounterDataImage);
    const auto& header = *reinterpret_cast<const ImageHeader*>(bytes);
    if (evaluate->rangeIndex >= header.ranges) return CUPTI_ERROR_INVALID_PARAMETER;
    for (std::size_t i = 0; i < evaluate->numMetrics; ++i)
        evaluate->pMetricValues[i] =
            value_of(evaluate->ppMetricNames[i], threads_in(bytes)[evaluate->rangeIndex]);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* enable) {
    enable->pRangeProfilerObject = &the_object;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* get) {
    get->counterDataSize = sizeof(ImageHeader) + get->maxNumOfRanges * sizeof(double);
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult
cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* clear) {
    const ImageHeader header{(clear->counterDataSize - sizeof(ImageHeader)) / sizeof(double), 0};
    std::memcpy(clear->pCounterData, &header, sizeof header);
    has_data = false;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* config) {
    if (config->range != CUPTI_AutoRange || has_data) return CUPTI_ERROR_INVALID_PARAMETER;
    max_ranges = config->maxRangesPerPass;
    image = config->pCounterDataImage;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
    const std::lock_guard guard(range_profiler_mutex);
    if (running) return CUPTI_ERROR_INVALID_OPERATION;
    measured.clear();
    dropped = 0;
    running = true;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* stop) {
    const std::lock_guard guard(range_profiler_mutex);
    if (!running) return CUPTI_ERROR_INVALID_OPERATION;
    running = false;
    stop->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* decode) {
    auto& header = *reinterpret_cast<ImageHeader*>(image);
    header.ranges = measured.size();
    std::reverse_copy(measured.begin(), measured.end(), threads_in(image));
    has_data = true;
    decode->numOfRangeDropped = dropped;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* get) {
    get->numTotalRanges = reinterpret_cast<const ImageHeader*>(get->pCounterDataImage)->ranges;
    return CUPTI_SUCCESS;
}

FAKE_API CUptiResult
cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* get) {
    static thread_local std::string name;
    const auto& header = *reinterpret_cast<const ImageHeader*>(get->pCounterDataImage);
    name = std::to_string(header.ranges - 1 - get->rangeIndex);
    get->rangeName = name.c_str();
    return CUPTI_SUCCESS;
}
