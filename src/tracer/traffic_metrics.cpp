#include "src/tracer/traffic_metrics.hpp"

#include <cmath>
#include <cstring>

namespace deepjit::tracer {
namespace {

/// The unit in which lts__t_sectors counts.
constexpr double kSectorBytes = 32;

/// Names of one set, null where the set does not measure that figure.
struct MetricSet {
    const char* dram_read;
    const char* dram_written;
    const char* l2_read;
    const char* l2_written;
};
constexpr const char* kL2Read = "lts__t_sectors_op_read.sum";
constexpr const char* kL2Written = "lts__t_sectors_op_write.sum";
/// In the order of preference. Up to Hopper and on GB100 DRAM bytes have the first names, on GB202 and its
/// kin the second; integrated GPUs have no DRAM counter (metric lists of CUPTI 13.0).
constexpr MetricSet kSets[] = {
    {"dram__bytes_read.sum", "dram__bytes_write.sum", kL2Read, kL2Written},
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", kL2Read, kL2Written},
    {"dram__bytes_read.sum", "dram__bytes_write.sum", nullptr, nullptr},
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", nullptr, nullptr},
    {nullptr, nullptr, kL2Read, kL2Written},
};

std::uint64_t rounded(double value) noexcept {
    return std::isfinite(value) && value >= 0 ? static_cast<std::uint64_t>(value + 0.5)
                                              : wire::TrafficBytes::kNotMeasured;
}

} // namespace

CounterError TrafficMetrics::choose(const RangeProfilerLibrary& cupti, const char* chip_name,
                                    ByteBlock& availability) noexcept {
    CounterError first_error;
    std::uint32_t passes_of_first = 0;
    for (std::size_t set = 0; set < sizeof kSets / sizeof *kSets; ++set) {
        const CounterError error = try_set(cupti, chip_name, availability, set);
        if (!error && passes_ == 1) return {};
        if (!error && passes_of_first == 0) passes_of_first = passes_;
        if (error && !first_error) first_error = error;
        if (host_ == nullptr && error) return error; // the chip is unknown, whatever the set
        release(cupti);
    }
    passes_ = passes_of_first;
    if (passes_of_first > 1) return {"cuptiProfilerHostGetNumOfPasses", CUPTI_ERROR_NOT_SUPPORTED};
    return first_error;
}

void TrafficMetrics::release(const RangeProfilerLibrary& cupti) noexcept {
    if (host_ == nullptr) return;
    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, parameters);
    parameters.pHostObject = host_;
    cupti.host_deinitialize(&parameters);
    host_ = nullptr;
}

CounterError TrafficMetrics::try_set(const RangeProfilerLibrary& cupti, const char* chip_name,
                                     ByteBlock& availability, std::size_t set) noexcept {
    set_ = set;
    count_ = 0;
    passes_ = 0;
    const MetricSet& chosen = kSets[set];
    for (const char* const name : {chosen.dram_read, chosen.dram_written, chosen.l2_read, chosen.l2_written})
        if (name != nullptr) names_[count_++] = name;

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, initialize);
    initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    initialize.pChipName = chip_name;
    initialize.pCounterAvailabilityImage = availability.data();
    CUptiResult result = cupti.host_initialize(&initialize);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostInitialize", result};
    host_ = initialize.pHostObject;

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = host_;
    add.ppMetricNames = names_;
    add.numMetrics = count_;
    result = cupti.host_add_metrics(&add);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostConfigAddMetrics", result};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = host_;
    result = cupti.host_get_config_size(&size);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostGetConfigImageSize", result};
    if (!config_.allocate(size.configImageSize)) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = host_;
    get.configImageSize = config_.size();
    get.pConfigImage = config_.data();
    result = cupti.host_get_config(&get);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostGetConfigImage", result};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = config_.size();
    passes.pConfigImage = config_.data();
    result = cupti.host_get_passes(&passes);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostGetNumOfPasses", result};
    passes_ = static_cast<std::uint32_t>(passes.numOfPasses);
    return {};
}

CounterError TrafficMetrics::evaluate(const RangeProfilerLibrary& cupti, ByteBlock& counter_data,
                                      std::size_t range, wire::TrafficBytes& bytes) noexcept {
    double values[kMaxMetrics] = {};
    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = counter_data.data();
    evaluate.counterDataImageSize = counter_data.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = names_;
    evaluate.numMetrics = count_;
    evaluate.pMetricValues = values;
    const CUptiResult result = cupti.host_evaluate(&evaluate);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerHostEvaluateToGpuValues", result};
    const MetricSet& chosen = kSets[set_];
    const double* value = values;
    bytes = {};
    if (chosen.dram_read != nullptr) {
        bytes.dram_read = rounded(*value++);
        bytes.dram_written = rounded(*value++);
    }
    if (chosen.l2_read != nullptr) {
        bytes.l2_read = rounded(*value++ * kSectorBytes);
        bytes.l2_written = rounded(*value++ * kSectorBytes);
    }
    return {};
}

} // namespace deepjit::tracer
