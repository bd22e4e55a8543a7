#include "src/tracer/cupti_switch.hpp"

#include "src/tracer/recording.hpp"

namespace deepjit::tracer {
namespace {

// trace::CallCategory, as in watched_calls.cpp.
constexpr std::uint8_t kLaunch = 1;
constexpr std::uint8_t kGraphLaunch = 2;
constexpr std::uint8_t kSynchronise = 4;
constexpr std::uint8_t kGraph = 7;
constexpr std::uint8_t kModuleLoad = 8;

/// Until 13.0 Update 1 (API version 130001) disabling records of concurrent kernels could deadlock: there
/// they stay enabled, and those of kernels launched outside a window are dropped.
constexpr std::uint32_t kCanDisableKernels = 130'001;

} // namespace

bool waits_for_device(const WatchedCall& call) noexcept {
    switch (call.id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds:
        return true;
    default:
        return call.category == kSynchronise;
    }
}

bool is_watched(const WatchedCall& call, Watching level) noexcept {
    switch (level) {
    case Watching::Everything:
        return true;
    case Watching::Frames:
        return call.category == kGraph || call.category == kModuleLoad || call.category == kLaunch ||
               call.category == kGraphLaunch || waits_for_device(call);
    case Watching::Setup:
        return call.category == kGraph || call.category == kModuleLoad;
    }
    return true;
}

void CuptiSwitch::take(const CuptiLibrary* cupti, CUpti_SubscriberHandle subscriber,
                       bool graph_level) noexcept {
    cupti_ = cupti;
    subscriber_ = subscriber;
    graph_level_ = graph_level;
}

void CuptiSwitch::set(Watching level) noexcept {
    if (cupti_ == nullptr || level == level_) return;
    // Records go on before the first launch can be seen.
    if (level == Watching::Everything) set_records(true);
    for (const WatchedCall& call : watched_calls()) {
        const bool enabled = is_watched(call, level);
        if (enabled != is_watched(call, level_))
            cupti_->enable_callback(enabled ? 1 : 0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call.id);
    }
    if (level_ == Watching::Everything) set_records(false);
    level_ = level;
}

void CuptiSwitch::set_records(bool enabled) noexcept {
    const auto set_kind = [&](CUpti_ActivityKind kind) {
        const CUptiResult result = enabled ? cupti_->activity_enable(kind) : cupti_->activity_disable(kind);
        if (result != CUPTI_SUCCESS) recording().swallow_error();
    };
    if (cupti_->version >= kCanDisableKernels) set_kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    set_kind(CUPTI_ACTIVITY_KIND_MEMCPY);
    set_kind(CUPTI_ACTIVITY_KIND_MEMCPY2);
    set_kind(CUPTI_ACTIVITY_KIND_MEMSET);
    if (graph_level_) set_kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

} // namespace deepjit::tracer
