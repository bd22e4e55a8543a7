#pragma once

#include "src/tracer/argument_capture.hpp"
#include "src/tracer/cupti_library.hpp"
#include "src/tracer/driver_library.hpp"

#include <atomic>
#include <cstdint>

namespace deepjit::tracer {

/// The tracer's state in this process, from InitializeInjection to exit.
struct Session {
    DriverLibrary driver;
    CuptiLibrary cupti;
    ArgumentCapture arguments{driver};
    std::atomic<std::uint32_t> open_captures{0}; ///< streams that are being captured into graphs
    std::atomic<std::uint64_t> dropped_records{0};
    bool tells_exec_updates = false; ///< CUPTI reports each changed node of an executable graph (13.0)
    std::atomic<bool> driver_answered{false}; ///< a driver call was seen, or the driver listed its devices

    /// Starts recording into $DEEPJIT_RUN_DIR; does nothing where that is not set. Called by cuInit.
    void start() noexcept;

  private:
    void start_cupti() noexcept;
    void enable_resource_callbacks(CUpti_SubscriberHandle subscriber) noexcept;
    void fail(const char* step, CUptiResult result) noexcept;
    void record_status() noexcept;
    void record_what_changed() noexcept;
    void run_flusher() noexcept;
    void finish() noexcept;
    static void finish_at_exit() noexcept;

    bool cupti_opened_ = false;
    bool subscribed_ = false;
    bool kernel_activity_ = false;
    bool devices_recorded_ = false;
    CUptiResult first_error_ = CUPTI_SUCCESS;
    char error_text_[512] = {};
    wire::TracerStatus last_status_;
    std::atomic<int> process_id_{0}; ///< of the process that start() ran in; a forked child differs
};

Session& session() noexcept;

} // namespace deepjit::tracer
