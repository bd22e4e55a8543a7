#pragma once

#include "src/tracer/cupti_switch.hpp"
#include "src/tracer/locks.hpp"
#include "src/wire/records.hpp"

#include <atomic>
#include <cstdint>

namespace deepjit::tracer {

/// Which part of the run is recorded. Conditions that are given must all hold: the time since CUDA was
/// initialised, the program's own cuProfilerStart, an open NVTX range of a name, and the number of frames.
///
/// A frame ends where the host waits for the device (a synchronise call or a blocking copy to the host) after
/// at least one launch. With a range, its occurrences are counted in place of frames.
///
/// Outside of windows CUPTI is asked for next to nothing. A window opens at once, on the thread whose call
/// opens it; after it has closed the flusher turns CUPTI down, once the last kernels have had time to arrive.
class RecordingWindow {
  public:
    /// Reads the variables (README.md). Called once, when the recording has been opened.
    void configure() noexcept;
    /// CUPTI watches everything until here. `cupti` null where it could not be started.
    void start(const CuptiLibrary* cupti, CUpti_SubscriberHandle subscriber, bool graph_level) noexcept;

    /// Whether only a part of the run is asked for.
    bool selects() const noexcept { return selects_; }
    bool uses_profiler_api() const noexcept { return selection_.profiler_api != 0; }
    bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }

    /// A launch, copy or fill is called while the window is open.
    void note_call(std::uint32_t correlation_id) noexcept;
    /// Whether a device record belongs to a call made in a window.
    bool admits(std::uint32_t correlation_id) const noexcept;

    /// A watched call returned, recorded or not.
    void on_call(const WatchedCall& call) noexcept;
    void on_capture_began() noexcept;
    void on_profiler_call(bool starts) noexcept;
    /// The thread pushed or popped an NVTX range, the `level`th of its domain; negative: the level is
    /// unknown.
    void on_range_pushed(std::uint32_t domain_id, int level, std::uint32_t name_id) noexcept;
    void on_range_popped(std::uint32_t domain_id, int level) noexcept;
    void on_range_started(std::uint64_t range_id, std::uint32_t name_id) noexcept;
    void on_range_ended(std::uint64_t range_id) noexcept;
    /// Every flush period, on the flusher.
    void on_tick() noexcept;

    /// In a forked child: nothing is recorded there, but its calls come here still.
    void forget_parent() noexcept;

  private:
    void range_opened() noexcept;
    void range_closed() noexcept;
    bool counts_frames() const noexcept;
    bool wants_open() const noexcept;
    Watching wanted_level() const noexcept;
    void update(wire::WindowCause cause) noexcept;
    void open(wire::WindowCause cause) noexcept;
    void close(wire::WindowCause cause) noexcept;

    bool selects_ = false;
    wire::RecordingSelection selection_;
    const char* range_name_ = nullptr; ///< null: any time will do
    std::uint32_t range_name_id_ = 0;
    std::int64_t start_ns_ = 0;

    std::atomic<bool> open_{true};
    std::atomic<bool> launched_{false}; ///< since the last frame ended

    std::atomic<std::uint64_t> started_range_id_{0}; ///< of a start/end range of the name; 0 none is open

    /// Calls of each window, as a span of their correlation ids, which CUPTI gives out in rising order.
    struct Span {
        std::atomic<std::uint32_t> first{0}; ///< 0: none yet
        std::atomic<std::uint32_t> last{0};
    };
    static constexpr std::uint32_t kSpans = 1024; ///< more windows than can close in a flush period
    Span spans_[kSpans];
    std::atomic<std::uint32_t> window_count_{0};

    mutable Mutex mutex_; ///< guards what follows
    CuptiSwitch switch_;
    bool in_time_ = true;
    bool was_in_time_ = false; ///< at an earlier tick
    bool started_by_api_ = true;
    bool in_partial_frame_ = false; ///< the delay was over in the middle of it
    std::uint64_t frames_ = 0;      ///< finished; with a range, its occurrences that began
    std::uint32_t open_ranges_ = 0;
    std::uint64_t kernels_at_last_tick_ = 0;
    int quiet_ticks_ = 0;
};

RecordingWindow& recording_window() noexcept;

} // namespace deepjit::tracer
