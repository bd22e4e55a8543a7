#include "src/tracer/counters.hpp"

#include "src/tracer/cupti_library.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace deepjit::tracer {
namespace {

constinit Counters the_counters;
/// When the context is created, which may be too early for CUPTI, and at its first launch.
constexpr std::uint32_t kMaxAttempts = 2;
/// How many of this thread's calls are between before_launch() and after_launch().
thread_local std::uint32_t open_launches = 0;

} // namespace

Counters& counters() noexcept {
    return the_counters;
}

void Counters::open(const CuptiLibrary& cupti) noexcept {
    const char* const asked = std::getenv("DEEPJIT_TRACER_COUNTERS");
    if (asked == nullptr || std::strcmp(asked, "1") != 0) return;
    cupti_ = &cupti;
    if (!profiler_.resolve(cupti.handle)) {
        fail("This CUPTI has no Range Profiler, which came with CUDA 12.6 Update 2.",
             CUPTI_ERROR_NOT_SUPPORTED);
        return;
    }
    active_.store(true);
}

void Counters::on_context_created(CUcontext context) noexcept {
    if (!active()) return;
    Guard guard(mutex_);
    start(context);
}

CounterSession* Counters::start(CUcontext context) noexcept {
    CounterSession* session = session_of(context);
    if (session == nullptr) session = session_of(nullptr);
    if (session == nullptr) {
        fail("Kernels of some contexts were not measured: there are too many contexts.",
             CUPTI_ERROR_NOT_SUPPORTED);
        return nullptr;
    }
    if (session->running() || session->attempts() == kMaxAttempts) return session;
    const CounterError error = session->start(*cupti_, profiler_, context);
    passes_ = std::max(passes_, session->passes());
    if (!error)
        record_status("");
    else if (session->attempts() == kMaxAttempts)
        fail(error);
    return session;
}

void Counters::on_context_destroyed(CUcontext context) noexcept {
    if (!active() || context == nullptr) return;
    Guard guard(mutex_);
    CounterSession* const session = session_of(context);
    if (session == nullptr) return;
    if (const CounterError error = session->stop(profiler_)) fail(error);
}

void Counters::before_launch(CUcontext context, bool is_graph, bool is_captured) noexcept {
    if (!active()) return;
    if (open_launches++ > 0) return;
    mutex_.lock();
    // Starting, and taking figures out, waits for the context, which would break a capture.
    if (context == nullptr || is_captured || session().open_captures.load() != 0) return;
    CounterSession* const counting = start(context);
    if (counting == nullptr) return;
    const std::uint32_t kernels = is_graph ? graph_nodes_.load() : 1;
    if (const CounterError error = counting->expect(profiler_, kernels)) fail(error);
}

void Counters::after_launch() noexcept {
    if (open_launches == 0) return;
    if (--open_launches == 0) mutex_.unlock();
}

void Counters::finish() noexcept {
    if (!active()) return;
    Guard guard(mutex_);
    for (CounterSession& session : sessions_) {
        if (session.context() == nullptr) continue;
        if (const CounterError error = session.stop(profiler_)) fail(error);
    }
    active_.store(false);
}

CounterSession* Counters::session_of(CUcontext context) noexcept {
    for (CounterSession& session : sessions_)
        if (session.context() == context) return &session;
    return nullptr;
}

void Counters::fail(const CounterError& error) noexcept {
    char sentence[256];
    std::snprintf(sentence, sizeof sentence, "%s returned %s (%d).", error.step,
                  cupti_->result_name(error.result), static_cast<int>(error.result));
    fail(sentence, error.result);
}

void Counters::fail(const char* sentence, CUptiResult result) noexcept {
    if (first_error_ != CUPTI_SUCCESS) return recording().swallow_error();
    first_error_ = result;
    record_status(sentence);
}

void Counters::record_status(const char* sentence) noexcept {
    if (first_error_ != CUPTI_SUCCESS && *sentence == '\0') return; // the first failure stays known
    wire::TrafficStatus status;
    status.cupti_result = static_cast<std::int32_t>(first_error_);
    status.passes = passes_;
    recording().define(status, sentence);
}

} // namespace deepjit::tracer
