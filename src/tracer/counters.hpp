#pragma once

#include "src/tracer/counter_session.hpp"
#include "src/tracer/locks.hpp"
#include "src/tracer/range_profiler_library.hpp"

#include <atomic>
#include <cstdint>

namespace deepjit::tracer {

struct CuptiLibrary;

/// Measures the memory traffic of every kernel, where $DEEPJIT_TRACER_COUNTERS asks for it. Kernels then run
/// one after the other and their launches wait for them, so that times recorded meanwhile mean nothing.
/// A failure is recorded as a sentence; the target and the rest of the recording go on.
class Counters {
  public:
    /// Reads the environment. Called once, before any context exists.
    void open(const CuptiLibrary& cupti) noexcept;
    bool active() const noexcept { return active_.load(std::memory_order_relaxed); }

    void on_context_created(CUcontext context) noexcept;
    void on_context_destroyed(CUcontext context) noexcept;
    void on_graph_node() noexcept { graph_nodes_.fetch_add(1, std::memory_order_relaxed); }

    /// Around a call that may run kernels in `context`. Between the two no other thread can exchange the
    /// buffer that the figures go to.
    void before_launch(CUcontext context, bool is_graph, bool is_captured) noexcept;
    /// Does nothing on a thread that is not between the two.
    void after_launch() noexcept;

    /// Saves what was measured and stops. Called at exit, by the flusher.
    void finish() noexcept;
    /// In a forked child: what the parent measures is not the child's.
    void abandon() noexcept { active_.store(false); }

  private:
    CounterSession* session_of(CUcontext context) noexcept;
    /// The session of that context, running if it can be.
    CounterSession* start(CUcontext context) noexcept;
    void fail(const CounterError& error) noexcept;
    void fail(const char* sentence, CUptiResult result) noexcept;
    void record_status(const char* sentence) noexcept;

    static constexpr std::size_t kMaxContexts = 32;
    const CuptiLibrary* cupti_ = nullptr;
    RangeProfilerLibrary profiler_;
    std::atomic<bool> active_{false};
    std::atomic<std::uint32_t> graph_nodes_{0}; ///< no graph has more
    Mutex mutex_;                               ///< guards what follows
    CounterSession sessions_[kMaxContexts];
    CUptiResult first_error_ = CUPTI_SUCCESS;
    std::uint32_t passes_ = 0;
};

Counters& counters() noexcept;

} // namespace deepjit::tracer
