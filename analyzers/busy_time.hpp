#pragma once

#include "src/model/trace_data.hpp"

#include <cstdint>
#include <vector>

namespace deepjit::analyzers {

struct Interval {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t length_ns() const { return end_ns - start_ns; }
};

/// When one device ran anything at all: the union of its kernels, copies and memsets on all streams, so that
/// overlapping work counts once and a gap in one stream that another one fills is no gap.
class BusyTime {
  public:
    BusyTime(const model::TraceData& trace, std::uint32_t device_id);
    /// The union of any intervals, in any order.
    explicit BusyTime(std::vector<Interval> work);

    std::int64_t busy_within(Interval window) const;
    /// Idle intervals that lie wholly inside the window, in order.
    std::vector<Interval> gaps_within(Interval window) const;

  private:
    std::size_t first_ending_after(std::int64_t time_ns) const;

    std::vector<Interval> busy_; ///< disjoint, in order
};

} // namespace deepjit::analyzers
