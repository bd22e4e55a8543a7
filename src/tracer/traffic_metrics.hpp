#pragma once

#include "src/tracer/byte_block.hpp"
#include "src/tracer/range_profiler_library.hpp"
#include "src/wire/records.hpp"

#include <cstdint>

namespace deepjit::tracer {

/// What failed; `result` is CUPTI_SUCCESS where nothing did.
struct CounterError {
    const char* step = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    explicit operator bool() const noexcept { return result != CUPTI_SUCCESS; }
};

/// The counters of memory traffic that one chip can collect while a kernel runs once.
class TrafficMetrics {
  public:
    /// Chooses them. `availability` is CUPTI's counter availability image, or empty. A set that would need
    /// kernels to run more than once is not chosen: replay is wrong wherever something else looks at the
    /// memory of a kernel meanwhile, and whether it does cannot be known. Then L2 or DRAM is left out.
    CounterError choose(const RangeProfilerLibrary& cupti, const char* chip_name,
                        ByteBlock& availability) noexcept;

    const char** names() noexcept { return names_; }
    std::size_t count() const noexcept { return count_; }
    ByteBlock& config_image() noexcept { return config_; }
    /// Of the set that was chosen, else of the first set that the chip knows.
    std::uint32_t passes() const noexcept { return passes_; }

    /// The figures of one range of a decoded counter data image.
    CounterError evaluate(const RangeProfilerLibrary& cupti, ByteBlock& counter_data, std::size_t range,
                          wire::TrafficBytes& bytes) noexcept;

    /// Gives back what choose() took.
    void release(const RangeProfilerLibrary& cupti) noexcept;

  private:
    static constexpr std::size_t kMaxMetrics = 4;
    CounterError try_set(const RangeProfilerLibrary& cupti, const char* chip_name, ByteBlock& availability,
                         std::size_t set) noexcept;

    CUpti_Profiler_Host_Object* host_ = nullptr;
    ByteBlock config_;
    const char* names_[kMaxMetrics] = {};
    std::size_t count_ = 0;
    std::size_t set_ = 0;
    std::uint32_t passes_ = 0;
};

} // namespace deepjit::tracer
