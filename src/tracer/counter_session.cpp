#include "src/tracer/counter_session.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/cupti_library.hpp"
#include "src/tracer/recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace deepjit::tracer {
namespace {

/// So that a record stays well under what its 16-bit size can say.
constexpr std::uint32_t kRangesPerRecord = 1024;

/// Automatic ranges are named by their number. CUPTI does not say in which order they lie.
struct MeasuredRange {
    std::uint64_t number;
    wire::TrafficBytes bytes;
};

/// A counter availability image says what this context may measure; newer chips cannot do without. CUPTI
/// refuses it to a user without the privilege.
CounterError get_availability(const RangeProfilerLibrary& profiler, CUcontext context,
                              ByteBlock& image) noexcept {
    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, get);
    get.ctx = context;
    CUptiResult result = profiler.get_counter_availability(&get);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerGetCounterAvailability", result};
    if (!image.allocate(get.counterAvailabilityImageSize)) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
    get.pCounterAvailabilityImage = image.data();
    result = profiler.get_counter_availability(&get);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerGetCounterAvailability", result};
    return {};
}

} // namespace

CounterError CounterSession::start(const CuptiLibrary& cupti, const RangeProfilerLibrary& profiler,
                                   CUcontext context) noexcept {
    context_ = context;
    ++attempts_;
    if (!prepared_) {
        if (const CounterError error = prepare(cupti, profiler)) return error;
        prepared_ = true;
    }
    return resume(profiler);
}

CounterError CounterSession::prepare(const CuptiLibrary& cupti,
                                     const RangeProfilerLibrary& profiler) noexcept {
    if (cupti.get_context_id == nullptr || cupti.get_device_id == nullptr)
        return {"cuptiGetContextId", CUPTI_ERROR_NOT_SUPPORTED};
    CUptiResult result = cupti.get_context_id(context_, &context_id_);
    if (result != CUPTI_SUCCESS) return {"cuptiGetContextId", result};
    std::uint32_t device = 0;
    result = cupti.get_device_id(context_, &device);
    if (result != CUPTI_SUCCESS) return {"cuptiGetDeviceId", result};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_Profiler_Initialize_Params, initialize);
    result = profiler.initialize(&initialize);
    if (result != CUPTI_SUCCESS) return {"cuptiProfilerInitialize", result};
    ByteBlock availability;
    if (const CounterError error = get_availability(profiler, context_, availability)) return error;
    DEEPJIT_CUPTI_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
    chip.deviceIndex = device;
    result = profiler.get_chip_name(&chip);
    if (result != CUPTI_SUCCESS) return {"cuptiDeviceGetChipName", result};
    if (const CounterError error = metrics_.choose(profiler, chip.pChipName, availability)) return error;

    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context_;
    result = profiler.enable(&enable);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerEnable", result};
    object_ = enable.pRangeProfilerObject;
    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = metrics_.names();
    size.numMetrics = metrics_.count();
    size.maxNumOfRanges = kMaxRanges;
    size.maxNumRangeTreeNodes = kMaxRanges;
    result = profiler.get_data_size(&size);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerGetCounterDataSize", result};
    if (!counter_data_.allocate(size.counterDataSize)) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
    return {};
}

CounterError CounterSession::resume(const RangeProfilerLibrary& profiler) noexcept {
    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, clear);
    clear.pRangeProfilerObject = object_;
    clear.counterDataSize = counter_data_.size();
    clear.pCounterData = counter_data_.data();
    CUptiResult result = profiler.initialize_data(&clear);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerCounterDataImageInitialize", result};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, config);
    config.pRangeProfilerObject = object_;
    config.configSize = metrics_.config_image().size();
    config.pConfig = metrics_.config_image().data();
    config.counterDataImageSize = counter_data_.size();
    config.pCounterDataImage = counter_data_.data();
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay; // of one pass: nothing is replayed
    config.maxRangesPerPass = kMaxRanges;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    result = profiler.set_config(&config);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerSetConfig", result};

    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = object_;
    result = profiler.start(&start);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerStart", result};
    running_ = true;
    expected_ranges_ = 0;
    start_ns_ = now_ns();
    return {};
}

CounterError CounterSession::expect(const RangeProfilerLibrary& profiler, std::uint32_t kernels) noexcept {
    if (!running_) return {};
    if (expected_ranges_ > 0 && kernels > kMaxRanges - std::min(expected_ranges_, kMaxRanges)) {
        if (const CounterError error = save(profiler)) return error;
        if (const CounterError error = resume(profiler)) return error;
    }
    expected_ranges_ += kernels;
    return {};
}

CounterError CounterSession::stop(const RangeProfilerLibrary& profiler) noexcept {
    CounterError error;
    if (running_) error = save(profiler);
    if (object_ != nullptr) {
        DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, disable);
        disable.pRangeProfilerObject = object_;
        const CUptiResult result = profiler.disable(&disable);
        if (result != CUPTI_SUCCESS && !error) error = {"cuptiRangeProfilerDisable", result};
    }
    metrics_.release(profiler);
    *this = CounterSession();
    return error;
}

CounterError CounterSession::save(const RangeProfilerLibrary& profiler) noexcept {
    running_ = false;
    const std::int64_t end_ns = now_ns(); // every launch has waited for its kernel
    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = object_;
    CUptiResult result = profiler.stop(&stop);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerStop", result};
    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object_;
    result = profiler.decode_data(&decode);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerDecodeData", result};
    return write(profiler, end_ns, static_cast<std::uint32_t>(decode.numOfRangeDropped));
}

CounterError CounterSession::write(const RangeProfilerLibrary& profiler, std::int64_t end_ns,
                                   std::uint32_t dropped) noexcept {
    DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = counter_data_.data();
    info.counterDataImageSize = counter_data_.size();
    const CUptiResult result = profiler.get_data_info(&info);
    if (result != CUPTI_SUCCESS) return {"cuptiRangeProfilerGetCounterDataInfo", result};
    const std::size_t count = info.numTotalRanges;
    if (count == 0 && expected_ranges_ == 0) return {};
    ByteBlock memory;
    ByteBlock tail;
    if (!memory.allocate(std::max<std::size_t>(count, 1) * sizeof(MeasuredRange)) ||
        !tail.allocate(kRangesPerRecord * sizeof(wire::TrafficBytes)))
        return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
    auto* const ranges = reinterpret_cast<MeasuredRange*>(memory.data());
    for (std::size_t i = 0; i < count; ++i) {
        if (const CounterError error = metrics_.evaluate(profiler, counter_data_, i, ranges[i].bytes))
            return error;
        ranges[i].number = i;
        DEEPJIT_CUPTI_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, range);
        range.pCounterDataImage = counter_data_.data();
        range.counterDataImageSize = counter_data_.size();
        range.rangeIndex = i;
        range.rangeDelimiter = "/";
        if (profiler.get_range_info(&range) == CUPTI_SUCCESS && range.rangeName != nullptr)
            ranges[i].number = std::strtoull(range.rangeName, nullptr, 10);
    }
    std::stable_sort(ranges, ranges + count,
                     [](const MeasuredRange& a, const MeasuredRange& b) { return a.number < b.number; });
    wire::TrafficRanges record;
    record.context_id = context_id_;
    record.start_ns = start_ns_;
    record.end_ns = end_ns;
    record.total = static_cast<std::uint32_t>(count);
    record.dropped = dropped;
    auto* const values = reinterpret_cast<wire::TrafficBytes*>(tail.data());
    do {
        const auto in_record = std::min(kRangesPerRecord, static_cast<std::uint32_t>(count) - record.first);
        for (std::uint32_t i = 0; i < in_record; ++i)
            values[i] = ranges[record.first + i].bytes;
        recording().define(record, std::string_view(reinterpret_cast<const char*>(values),
                                                    in_record * sizeof(wire::TrafficBytes)));
        record.first += in_record;
    } while (record.first < count);
    return {};
}

} // namespace deepjit::tracer
