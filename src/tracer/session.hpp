#pragma once

#include "src/tracer/argument_capture.hpp"
#include "src/tracer/cupti_library.hpp"
#include "src/tracer/driver_library.hpp"
#include "src/tracer/locks.hpp"

#include <atomic>
#include <cstdint>

namespace deepjit::tracer {

/// The tracer's state in this process, from the first of cuInit and NVTX to exit.
struct Session {
    DriverLibrary driver;
    CuptiLibrary cupti;
    ArgumentCapture arguments{driver};
    std::atomic<std::uint32_t> open_captures{0}; ///< streams that are being captured into graphs
    std::atomic<std::uint64_t> dropped_records{0};
    bool records_arguments = true;   ///< of launches in streams; those of graph nodes always are
    bool tells_exec_updates = false; ///< CUPTI reports each changed node of an executable graph (13.0)
    std::atomic<bool> driver_answered{false}; ///< a driver call was seen, or the driver listed its devices

    /// Starts recording into $DEEPJIT_RUN_DIR, unless that has happened. False where there is no such folder
    /// or the recording has stopped. Called by whichever comes first, cuInit or NVTX: the recording is of
    /// both. A forked child, whose parent's recording ends at the fork, gets one of its own.
    bool open_recording() noexcept;

    /// Starts recording what CUDA does. Called by cuInit.
    void start_cuda() noexcept;

  private:
    void forget_parent() noexcept;
    void record_process_start() noexcept;
    void start_flusher() noexcept;
    void start_cupti() noexcept;
    void enable_resource_callbacks(CUpti_SubscriberHandle subscriber) noexcept;
    void fail(const char* step, CUptiResult result) noexcept;
    void give_up_flush(std::int64_t waited_ms) noexcept;
    void record_status() noexcept;
    void record_what_changed() noexcept;
    void run_flusher() noexcept;
    void finish() noexcept;
    static void finish_at_exit() noexcept;
    static void abandon_recording_in_child() noexcept;

    bool cupti_opened_ = false;
    bool subscribed_ = false;
    std::atomic<bool> kernel_activity_{false};
    std::atomic<bool> cuda_started_{false}; ///< what start_cuda() sets is complete
    bool devices_recorded_ = false;
    bool flush_hangs_ = false;
    CUptiResult first_error_ = CUPTI_SUCCESS;
    char error_text_[512] = {};
    Mutex status_mutex_; ///< guards last_status_
    wire::TracerStatus last_status_;
    Mutex open_mutex_;
    std::int64_t start_ns_ = 0;
    std::atomic<int> process_id_{0}; ///< of the process that opened the recording; a forked child differs
};

Session& session() noexcept;

} // namespace deepjit::tracer
