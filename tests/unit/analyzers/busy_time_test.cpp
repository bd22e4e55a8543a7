#include "analyzers/busy_time.hpp"

#include <gtest/gtest.h>

namespace deepjit::analyzers {
namespace {

TEST(BusyTime, sums_of_overlaps_count_once_and_windows_cut) {
    const BusyTime busy({{10, 20}, {15, 30}, {40, 50}});
    EXPECT_EQ(busy.busy_within({0, 100}), 30);
    EXPECT_EQ(busy.busy_within({25, 45}), 10);
    EXPECT_EQ(busy.busy_within({30, 40}), 0);
}

TEST(BusyTime, gaps_lie_between_work_and_wholly_inside_the_window) {
    const BusyTime busy({{10, 20}, {30, 40}, {40, 50}, {60, 70}});
    const auto gaps = busy.gaps_within({10, 60});
    ASSERT_EQ(gaps.size(), 2U);
    EXPECT_EQ(gaps[0].start_ns, 20);
    EXPECT_EQ(gaps[0].end_ns, 30);
    EXPECT_EQ(gaps[1].length_ns(), 10);
    EXPECT_TRUE(busy.gaps_within({22, 28}).empty());
}

TEST(BusyTime, work_of_length_zero_and_no_work_do_no_harm) {
    EXPECT_EQ(BusyTime(std::vector<Interval>{}).busy_within({0, 10}), 0);
    EXPECT_TRUE(BusyTime(std::vector<Interval>{}).gaps_within({0, 10}).empty());
    EXPECT_EQ(BusyTime({{5, 5}}).busy_within({0, 10}), 0);
}

} // namespace
} // namespace deepjit::analyzers
