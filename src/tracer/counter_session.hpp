#pragma once

#include "src/tracer/byte_block.hpp"
#include "src/tracer/range_profiler_library.hpp"
#include "src/tracer/traffic_metrics.hpp"

#include <cstdint>

namespace deepjit::tracer {

struct CuptiLibrary;

/// The Range Profiler at work in one context: every kernel there is a range of its own.
class CounterSession {
  public:
    /// Kernels that are measured before their figures must be taken out.
    static constexpr std::uint32_t kMaxRanges = 2048;

    CUcontext context() const noexcept { return context_; }
    bool running() const noexcept { return running_; }
    std::uint32_t attempts() const noexcept { return attempts_; } ///< to start
    std::uint32_t passes() const noexcept { return metrics_.passes(); }

    /// Starts measuring. Where that fails it can be tried again.
    CounterError start(const CuptiLibrary& cupti, const RangeProfilerLibrary& profiler,
                       CUcontext context) noexcept;

    /// Announces that at most so many kernels follow; saves what is there where they might not fit.
    CounterError expect(const RangeProfilerLibrary& profiler, std::uint32_t kernels) noexcept;

    /// Saves what was measured and lets go of the context.
    CounterError stop(const RangeProfilerLibrary& profiler) noexcept;

  private:
    CounterError prepare(const CuptiLibrary& cupti, const RangeProfilerLibrary& profiler) noexcept;
    CounterError resume(const RangeProfilerLibrary& profiler) noexcept;
    CounterError save(const RangeProfilerLibrary& profiler) noexcept;
    CounterError write(const RangeProfilerLibrary& profiler, std::int64_t end_ns,
                       std::uint32_t dropped) noexcept;

    CUcontext context_ = nullptr;
    std::uint32_t context_id_ = 0;
    bool running_ = false;
    bool prepared_ = false;
    std::uint32_t attempts_ = 0;
    CUpti_RangeProfiler_Object* object_ = nullptr;
    TrafficMetrics metrics_;
    ByteBlock counter_data_;
    std::uint32_t expected_ranges_ = 0; ///< at most so many are in the counter data image
    std::int64_t start_ns_ = 0;
};

} // namespace deepjit::tracer
