#include "src/tracer/range_profiler_library.hpp"

#include <dlfcn.h>

namespace deepjit::tracer {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

} // namespace

bool RangeProfilerLibrary::resolve(void* library) noexcept {
    return find(library, "cuptiProfilerInitialize", initialize) &&
           find(library, "cuptiProfilerGetCounterAvailability", get_counter_availability) &&
           find(library, "cuptiDeviceGetChipName", get_chip_name) &&
           find(library, "cuptiProfilerHostInitialize", host_initialize) &&
           find(library, "cuptiProfilerHostDeinitialize", host_deinitialize) &&
           find(library, "cuptiProfilerHostConfigAddMetrics", host_add_metrics) &&
           find(library, "cuptiProfilerHostGetConfigImageSize", host_get_config_size) &&
           find(library, "cuptiProfilerHostGetConfigImage", host_get_config) &&
           find(library, "cuptiProfilerHostGetNumOfPasses", host_get_passes) &&
           find(library, "cuptiProfilerHostEvaluateToGpuValues", host_evaluate) &&
           find(library, "cuptiRangeProfilerEnable", enable) &&
           find(library, "cuptiRangeProfilerDisable", disable) &&
           find(library, "cuptiRangeProfilerSetConfig", set_config) &&
           find(library, "cuptiRangeProfilerStart", start) && find(library, "cuptiRangeProfilerStop", stop) &&
           find(library, "cuptiRangeProfilerDecodeData", decode_data) &&
           find(library, "cuptiRangeProfilerGetCounterDataSize", get_data_size) &&
           find(library, "cuptiRangeProfilerCounterDataImageInitialize", initialize_data) &&
           find(library, "cuptiRangeProfilerGetCounterDataInfo", get_data_info) &&
           find(library, "cuptiRangeProfilerCounterDataGetRangeInfo", get_range_info);
}

} // namespace deepjit::tracer
