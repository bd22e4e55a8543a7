#include "src/tracer/recording_window.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/definitions.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace deepjit::tracer {
namespace {

constinit RecordingWindow the_window;

/// Records of kernels that run on after their window has closed arrive with a flush. After two flushes that
/// brought none, CUPTI is turned down.
constexpr int kQuietTicks = 2;

/// The range of the name asked for that this thread has open, innermost repetitions left out.
struct PushedRange {
    std::uint32_t domain_id = 0;
    int level = -1;
};
thread_local PushedRange pushed_range;

std::uint64_t number_in(const char* variable) noexcept {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : 0;
}

bool is_launch(const WatchedCall& call) noexcept {
    return (call.form >= CallForm::LaunchKernel && call.form <= CallForm::GraphLaunch) ||
           call.form == CallForm::LaunchOnDevices;
}

} // namespace

RecordingWindow& recording_window() noexcept {
    return the_window;
}

void RecordingWindow::configure() noexcept {
    selection_ = {};
    selection_.profiler_api = number_in("DEEPJIT_TRACER_PROFILER_API") != 0 ? 1 : 0;
    selection_.skipped_frames = number_in("DEEPJIT_TRACER_SKIP_FRAMES");
    selection_.frames = number_in("DEEPJIT_TRACER_FRAMES");
    selection_.delay_ns = static_cast<std::int64_t>(number_in("DEEPJIT_TRACER_DELAY_NS"));
    selection_.duration_ns = static_cast<std::int64_t>(number_in("DEEPJIT_TRACER_DURATION_NS"));
    range_name_ = std::getenv("DEEPJIT_TRACER_RANGE");
    if (range_name_ != nullptr && *range_name_ == '\0') range_name_ = nullptr;
    selects_ = selection_.profiler_api != 0 || selection_.skipped_frames != 0 || selection_.frames != 0 ||
               selection_.delay_ns != 0 || selection_.duration_ns != 0 || range_name_ != nullptr;
    start_ns_ = now_ns();
    if (!selects_) {
        open(wire::WindowCause::Process);
        return;
    }
    ThreadState* const state = recording().thread_state();
    if (range_name_ != nullptr && state != nullptr)
        range_name_id_ = definitions().name_id_of(*state, range_name_);
    recording().define(selection_, range_name_ != nullptr ? range_name_ : "");
    in_time_ = selection_.delay_ns == 0;
    started_by_api_ = selection_.profiler_api == 0;
    open_.store(false);
    if (wants_open()) open(wire::WindowCause::Process);
}

void RecordingWindow::start(const CuptiLibrary* cupti, CUpti_SubscriberHandle subscriber,
                            bool graph_level) noexcept {
    Guard guard(mutex_);
    switch_.take(cupti, subscriber, graph_level);
    switch_.set(wanted_level());
}

void RecordingWindow::note_call(std::uint32_t correlation_id) noexcept {
    Span& span = spans_[window_count_.load(std::memory_order_relaxed) % kSpans];
    std::uint32_t first = span.first.load(std::memory_order_relaxed);
    while ((first == 0 || correlation_id < first) &&
           !span.first.compare_exchange_weak(first, correlation_id, std::memory_order_relaxed)) {
    }
    std::uint32_t last = span.last.load(std::memory_order_relaxed);
    while (correlation_id > last &&
           !span.last.compare_exchange_weak(last, correlation_id, std::memory_order_relaxed)) {
    }
}

bool RecordingWindow::admits(std::uint32_t correlation_id) const noexcept {
    const std::uint32_t newest = window_count_.load(std::memory_order_relaxed);
    for (std::uint32_t age = 0; age < kSpans && age <= newest; ++age) {
        const Span& span = spans_[(newest - age) % kSpans];
        const std::uint32_t first = span.first.load(std::memory_order_relaxed);
        if (first == 0 || correlation_id < first) continue;
        return correlation_id <= span.last.load(std::memory_order_relaxed);
    }
    return false;
}

void RecordingWindow::on_call(const WatchedCall& call) noexcept {
    if (is_launch(call)) {
        if (!launched_.load(std::memory_order_relaxed)) launched_.store(true, std::memory_order_relaxed);
        return;
    }
    if (!counts_frames() || !waits_for_device(call) || !launched_.load(std::memory_order_relaxed)) return;
    Guard guard(mutex_);
    if (!launched_.exchange(false) || !in_time_ || !started_by_api_) return;
    if (in_partial_frame_)
        in_partial_frame_ = false;
    else
        ++frames_;
    update(wire::WindowCause::Frames);
}

void RecordingWindow::on_capture_began() noexcept {
    Guard guard(mutex_);
    switch_.set(Watching::Everything); // what is captured becomes the contents of a graph
}

void RecordingWindow::on_profiler_call(bool starts) noexcept {
    Guard guard(mutex_);
    if (started_by_api_ == starts) return;
    started_by_api_ = starts;
    launched_.store(false);
    update(wire::WindowCause::ProfilerApi);
}

void RecordingWindow::on_range_pushed(std::uint32_t domain_id, int level, std::uint32_t name_id) noexcept {
    if (name_id == 0 || name_id != range_name_id_ || level < 0 || pushed_range.level >= 0) return;
    pushed_range = {domain_id, level};
    range_opened();
}

void RecordingWindow::on_range_popped(std::uint32_t domain_id, int level) noexcept {
    if (pushed_range.level < 0 || level != pushed_range.level || domain_id != pushed_range.domain_id) return;
    pushed_range = {};
    range_closed();
}

void RecordingWindow::on_range_started(std::uint64_t range_id, std::uint32_t name_id) noexcept {
    if (name_id == 0 || name_id != range_name_id_) return;
    std::uint64_t none = 0;
    if (started_range_id_.compare_exchange_strong(none, range_id)) range_opened();
}

void RecordingWindow::on_range_ended(std::uint64_t range_id) noexcept {
    if (range_name_id_ == 0) return;
    if (started_range_id_.compare_exchange_strong(range_id, 0)) range_closed();
}

void RecordingWindow::range_opened() noexcept {
    Guard guard(mutex_);
    if (open_ranges_++ == 0 && in_time_ && started_by_api_) ++frames_;
    update(wire::WindowCause::Range);
}

void RecordingWindow::range_closed() noexcept {
    Guard guard(mutex_);
    if (open_ranges_ > 0) --open_ranges_;
    update(wire::WindowCause::Range);
}

void RecordingWindow::on_tick() noexcept {
    const bool has_stopped = !recording().active();
    if (!selects_ && !has_stopped) return;
    Guard guard(mutex_);
    if (has_stopped) return switch_.set(Watching::Setup); // the size limit, a full disk
    const std::int64_t since_start_ns = now_ns() - start_ns_;
    // A duration shorter than a tick still gets one, else it could pass between two of them.
    was_in_time_ = was_in_time_ || in_time_;
    const bool is_over = selection_.duration_ns != 0 && was_in_time_ &&
                         since_start_ns >= selection_.delay_ns + selection_.duration_ns;
    const bool in_time = since_start_ns >= selection_.delay_ns && !is_over;
    if (in_time != in_time_) {
        in_time_ = in_time;
        in_partial_frame_ = in_time && counts_frames();
        update(wire::WindowCause::Time);
    }
    const Watching wanted = wanted_level();
    const std::uint64_t kernels = recording().counters().kernels_recorded;
    const bool is_quiet = kernels == kernels_at_last_tick_;
    kernels_at_last_tick_ = kernels;
    quiet_ticks_ = is_quiet && wanted < switch_.level() ? quiet_ticks_ + 1 : 0;
    if (quiet_ticks_ >= kQuietTicks) switch_.set(wanted);
}

void RecordingWindow::forget_parent() noexcept {
    new (&mutex_) Mutex;
}

bool RecordingWindow::counts_frames() const noexcept {
    return range_name_ == nullptr && (selection_.skipped_frames != 0 || selection_.frames != 0);
}

bool RecordingWindow::wants_open() const noexcept {
    if (!in_time_ || !started_by_api_ || in_partial_frame_) return false;
    const std::uint64_t skipped = selection_.skipped_frames;
    if (range_name_ != nullptr)
        return open_ranges_ > 0 && frames_ > skipped &&
               (selection_.frames == 0 || frames_ - skipped <= selection_.frames);
    return frames_ >= skipped && (selection_.frames == 0 || frames_ - skipped < selection_.frames);
}

Watching RecordingWindow::wanted_level() const noexcept {
    if (is_open() || session().open_captures.load(std::memory_order_relaxed) != 0)
        return Watching::Everything;
    const std::uint64_t last_frame = selection_.skipped_frames + selection_.frames;
    const bool has_frames_left = selection_.frames == 0 || frames_ < last_frame;
    return counts_frames() && in_time_ && started_by_api_ && has_frames_left ? Watching::Frames
                                                                             : Watching::Setup;
}

void RecordingWindow::update(wire::WindowCause cause) noexcept {
    const bool wanted = wants_open();
    if (wanted && !is_open()) open(cause);
    if (!wanted && is_open()) close(cause);
    const Watching level = wanted_level();
    if (level > switch_.level()) switch_.set(level);
}

void RecordingWindow::open(wire::WindowCause cause) noexcept {
    const std::uint32_t next = window_count_.load() + 1;
    spans_[next % kSpans].first.store(0);
    spans_[next % kSpans].last.store(0);
    window_count_.store(next);
    switch_.set(Watching::Everything);
    wire::WindowStart record;
    record.cause = cause;
    record.frames = frames_;
    record.time_ns = now_ns();
    recording().define(record);
    open_.store(true);
    quiet_ticks_ = 0;
}

void RecordingWindow::close(wire::WindowCause cause) noexcept {
    open_.store(false);
    wire::WindowEnd record;
    record.cause = cause;
    record.frames = frames_;
    record.time_ns = now_ns();
    recording().define(record);
}

} // namespace deepjit::tracer
