#include "src/tracer/session.hpp"

#include "src/tracer/activity.hpp"
#include "src/tracer/buffer_capture.hpp"
#include "src/tracer/callbacks.hpp"
#include "src/tracer/clock.hpp"
#include "src/tracer/counters.hpp"
#include "src/tracer/definitions.hpp"
#include "src/tracer/image_store.hpp"
#include "src/tracer/inherited_environment.hpp"
#include "src/tracer/nvtx_names.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/recording_window.hpp"
#include "src/tracer/watched_calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string_view>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

/// What SIGKILL can cost at most, but for records of work that the device has not completed.
constexpr std::int64_t kFlushPeriod_ms = 50;
/// CUPTI can hang in a flush when the target ends badly; exit must not.
constexpr std::int64_t kMaxExitDelay_ms = 3000;
/// Reading out thousands of counters takes a while; a run that counts is slow anyway.
constexpr std::int64_t kMaxExitDelayWithCounters_ms = 30'000;
constexpr std::size_t kFlusherStackBytes = 512 * 1024;

constinit Session the_session;

pthread_mutex_t flusher_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t flusher_wakes; ///< on CLOCK_MONOTONIC
bool finish_requested = false;
bool finished = false;

timespec after_ms(std::int64_t milliseconds) noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += (milliseconds % 1000) * 1'000'000;
    time.tv_sec += milliseconds / 1000 + time.tv_nsec / 1'000'000'000;
    time.tv_nsec %= 1'000'000'000;
    return time;
}

bool is_set(const char* variable) noexcept {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
}

/// 0 where it is not set.
std::uint64_t number_in(const char* variable) noexcept {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : 0;
}

} // namespace

Session& session() noexcept {
    return the_session;
}

bool Session::open_recording() noexcept {
    Guard guard(open_mutex_);
    const int opened_by = process_id_.load();
    if (opened_by == getpid()) return recording().active();
    const char* const directory = std::getenv("DEEPJIT_RUN_DIR");
    if (directory == nullptr || *directory == '\0' || !may_record_this_process()) return false;
    if (opened_by != 0) forget_parent();
    process_id_.store(getpid());
    if (!recording().open(directory)) return false;
    recording().limit_size(directory, number_in("DEEPJIT_TRACER_MAX_BYTES"));
    start_ns_ = now_ns();
    record_process_start();
    if (opened_by == 0) recording_window().configure();
    define_nvtx_again(); // what a parent defined before the fork
    record_status();
    recording().flush();

    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&flusher_wakes, &attributes);
    if (opened_by == 0) {
        pthread_atfork(nullptr, nullptr, abandon_recording_in_child);
        std::atexit(finish_at_exit);
        std::at_quick_exit(finish_at_exit);
    }
    start_flusher();
    return true;
}

void Session::abandon_recording_in_child() noexcept {
    recording().abandon();
    counters().abandon();
    new (&the_session.open_mutex_) Mutex; // a thread that is gone may hold it
    recording_window().forget_parent();
}

void Session::forget_parent() noexcept {
    new (&status_mutex_) Mutex;
    last_status_ = {};
    pthread_mutex_init(&flusher_mutex, nullptr);
    finish_requested = finished = false;
    // CUDA that the parent has started does not work in a child, and neither does its CUPTI.
    cuda_started_.store(false);
    kernel_activity_.store(false);
    recording().forget_parent();
    definitions().forget_parent();
}

void Session::record_process_start() noexcept {
    wire::ProcessStart process;
    process.process_id = static_cast<std::uint32_t>(getpid());
    process.parent_process_id = static_cast<std::uint32_t>(getppid());
    process.time_ns = start_ns_;
    process.driver_version = driver.version;
    process.cupti_version = cupti.version;
    recording().define(process);
}

void Session::start_cuda() noexcept {
    if (!open_recording()) return;
    driver.open();
    cupti_opened_ = cupti.open(driver.version, error_text_, sizeof error_text_);
    record_process_start(); // again, with the versions
    if (const char* const plan = std::getenv("DEEPJIT_TRACER_CAPTURE_PLAN"); plan != nullptr && *plan != '\0')
        buffer_capture().open(plan, std::getenv("DEEPJIT_RUN_DIR"));
    if (!is_set("DEEPJIT_TRACER_NO_MODULES")) image_store().open(std::getenv("DEEPJIT_RUN_DIR"));
    for (const WatchedCall& call : watched_calls()) {
        wire::ApiName name;
        name.api_id = static_cast<std::uint16_t>(call.id);
        name.category = call.category;
        recording().define(name, call.name);
    }
    if (cupti_opened_) start_cupti();
    withhold_from_children(); // all of them have been read
    cuda_started_.store(true);
    record_status();
    recording().flush();
    // Handlers run in reverse order: this one before those that CUPTI set up when it was opened.
    std::atexit(finish_at_exit);
    std::at_quick_exit(finish_at_exit);
}

void Session::start_flusher() noexcept {
    pthread_attr_t thread_attributes;
    pthread_attr_init(&thread_attributes);
    pthread_attr_setstacksize(&thread_attributes, kFlusherStackBytes);
    pthread_attr_setdetachstate(&thread_attributes, PTHREAD_CREATE_DETACHED);
    // The target's signals are for its own threads; a new thread inherits the mask.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t flusher{};
    const int failed = pthread_create(
        &flusher, &thread_attributes,
        [](void*) -> void* {
            session().run_flusher();
            return nullptr;
        },
        nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failed != 0) recording().swallow_error();
}

void Session::start_cupti() noexcept {
    CUpti_SubscriberHandle subscriber = nullptr;
    char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
    CUptiResult result = cupti.subscribe_or_name_owner(&subscriber, on_callback, owner);
    // Whoever else subscribed also owns the activity buffers: taking those would break that tool.
    if (result != CUPTI_SUCCESS) {
        fail("cuptiSubscribe", result);
        const std::size_t bytes = std::strlen(error_text_);
        if (owner[0] != '\0')
            std::snprintf(error_text_ + bytes, sizeof error_text_ - bytes, " The subscriber is '%s'.", owner);
        else if (result == CUPTI_ERROR_NOT_INITIALIZED)
            std::snprintf(error_text_ + bytes, sizeof error_text_ - bytes,
                          " CUPTI is %s of API version %u, the driver is of version %d.", cupti.path(),
                          cupti.version, driver.version);
        return;
    }
    subscribed_ = true;
    records_arguments = !is_set("DEEPJIT_TRACER_NO_ARGUMENTS");
    const bool records_calls = !is_set("DEEPJIT_TRACER_NO_CALLS");
    for (const WatchedCall& call : watched_calls()) {
        if (!records_calls) break;
        // An older CUPTI does not know the newest calls.
        result = cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call.id);
        if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_INVALID_PARAMETER)
            fail("cuptiEnableCallback", result);
        const bool is_launch = call.form >= CallForm::LaunchKernel && call.form <= CallForm::GraphLaunch;
        if (is_launch && is_set("DEEPJIT_TRACER_API_RECORDS") &&
            cupti.activity_enable_driver_api != nullptr) {
            result = cupti.activity_enable_driver_api(call.id, 1);
            if (result != CUPTI_SUCCESS) fail("cuptiActivityEnableDriverApi", result);
        }
    }
    counters().open(cupti);
    enable_resource_callbacks(subscriber);
    if (recording_window().uses_profiler_api()) {
        for (const CUpti_CallbackId id :
             {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop}) {
            result = cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
            if (result != CUPTI_SUCCESS) fail("cuptiEnableCallback", result);
        }
    }

    result = cupti.activity_register_callbacks(on_buffer_requested, on_buffer_completed);
    if (result != CUPTI_SUCCESS) return fail("cuptiActivityRegisterCallbacks", result);
    result = cupti.activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    kernel_activity_ = result == CUPTI_SUCCESS;
    if (!kernel_activity_) return fail("cuptiActivityEnable", result);
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
          CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_OVERHEAD}) {
        result = cupti.activity_enable(kind);
        if (result != CUPTI_SUCCESS) fail("cuptiActivityEnable", result);
    }
    const bool graph_level = is_set("DEEPJIT_TRACER_GRAPH_LEVEL");
    if (graph_level) {
        result = cupti.activity_enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
        if (result != CUPTI_SUCCESS) fail("cuptiActivityEnable", result);
    }
    recording_window().start(&cupti, subscriber, graph_level);
}

void Session::enable_resource_callbacks(CUpti_SubscriberHandle subscriber) noexcept {
    const auto enable = [&](CUpti_CallbackId id) {
        return cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    };
    for (const CUpti_CallbackId id :
         {CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
          CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED}) {
        const CUptiResult result = enable(id);
        if (result != CUPTI_SUCCESS) fail("cuptiEnableCallback", result);
    }
    if (image_store().active()) {
        const CUptiResult result = enable(CUPTI_CBID_RESOURCE_MODULE_LOADED);
        if (result != CUPTI_SUCCESS) fail("cuptiEnableCallback", result);
    }
    if (counters().active()) {
        for (const CUpti_CallbackId id :
             {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
            const CUptiResult result = enable(id);
            if (result != CUPTI_SUCCESS) fail("cuptiEnableCallback", result);
        }
    }
    // Older versions do not know these; then an update of an executable graph makes its nodes unknown.
    tells_exec_updates = enable(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED) == CUPTI_SUCCESS &&
                         enable(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS) == CUPTI_SUCCESS;
}

void Session::fail(const char* step, CUptiResult result) noexcept {
    if (first_error_ != CUPTI_SUCCESS) return recording().swallow_error();
    first_error_ = result;
    std::snprintf(error_text_, sizeof error_text_, "%s returned %s (%d).", step, cupti.result_name(result),
                  static_cast<int>(result));
}

void Session::give_up_flush(std::int64_t waited_ms) noexcept {
    flush_hangs_ = true;
    if (error_text_[0] == '\0')
        std::snprintf(error_text_, sizeof error_text_,
                      "cuptiActivityFlushAll did not return within %lld s of the program's exit.",
                      static_cast<long long>(waited_ms / 1000));
    record_status();
    recording().flush();
}

void Session::record_status() noexcept {
    const Recording::Counters counters = recording().counters();
    const bool with_cuda = cuda_started_.load();
    wire::TracerStatus status;
    if (with_cuda) {
        status.cupti_result = static_cast<std::int32_t>(first_error_);
        status.cupti_opened = cupti_opened_ ? 1 : 0;
        status.subscribed = subscribed_ ? 1 : 0;
        status.kernel_activity = kernel_activity_.load() ? 1 : 0;
        status.driver_initialised = driver_answered.load() ? 1 : 0;
        status.header.flags = flush_hangs_ ? wire::TracerStatus::kFlushHangs : std::uint8_t{0};
    } else {
        status.header.flags = wire::TracerStatus::kBeforeCuda;
    }
    status.launches_called = counters.launches_called;
    status.kernels_recorded = counters.kernels_recorded;
    status.zero_timestamps = counters.zero_timestamps;
    status.dropped_records = dropped_records.load();
    status.swallowed_errors = recording().swallowed_errors();
    Guard guard(status_mutex_);
    if (std::memcmp(&status, &last_status_, sizeof status) == 0) return;
    last_status_ = status;
    recording().define(status, with_cuda ? std::string_view(error_text_) : std::string_view());
}

void Session::record_what_changed() noexcept {
    if (cuda_started_.load() && !devices_recorded_) {
        devices_recorded_ = driver.record_devices();
        if (devices_recorded_) driver_answered.store(true);
    }
    record_status();
    if (cuda_started_.load()) image_store().record_totals();
    recording().flush();
}

void Session::run_flusher() noexcept {
    pthread_setname_np(pthread_self(), "deepjit-flusher");
    pthread_mutex_lock(&flusher_mutex);
    while (true) {
        const timespec deadline = after_ms(kFlushPeriod_ms);
        while (!finish_requested && pthread_cond_timedwait(&flusher_wakes, &flusher_mutex, &deadline) == 0) {
        }
        const bool must_finish = finish_requested;
        pthread_mutex_unlock(&flusher_mutex);
        if (must_finish) {
            finish();
            break;
        }
        // Hands over buffers whose records are all complete, full or not. cuptiActivityFlushPeriod is no
        // substitute: it hands over full buffers alone (cupti_activity.h of 13.0), and a buffer holds
        // thousands of kernels.
        if (cuda_started_.load() && kernel_activity_) cupti.activity_flush_all(0);
        recording_window().on_tick();
        record_what_changed();
        pthread_mutex_lock(&flusher_mutex);
    }
    pthread_mutex_lock(&flusher_mutex);
    finished = true;
    pthread_cond_broadcast(&flusher_wakes);
    pthread_mutex_unlock(&flusher_mutex);
}

void Session::finish() noexcept {
    record_what_changed(); // what is already here is safe should CUPTI hang
    counters().finish();
    if (cuda_started_.load() && kernel_activity_) cupti.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    wire::ProcessEnd end;
    end.time_ns = now_ns();
    recording().define(end);
    record_what_changed();
}

void Session::finish_at_exit() noexcept {
    // In a forked child the flusher does not exist.
    if (getpid() != the_session.process_id_.load() || !recording().active()) return;
    const std::int64_t most_ms = counters().active() ? kMaxExitDelayWithCounters_ms : kMaxExitDelay_ms;
    const timespec deadline = after_ms(most_ms);
    pthread_mutex_lock(&flusher_mutex);
    finish_requested = true;
    pthread_cond_broadcast(&flusher_wakes);
    int waited = 0;
    while (!finished && waited == 0)
        waited = pthread_cond_timedwait(&flusher_wakes, &flusher_mutex, &deadline);
    const bool hung = !finished;
    pthread_mutex_unlock(&flusher_mutex);
    if (hung) the_session.give_up_flush(most_ms);
}

} // namespace deepjit::tracer
