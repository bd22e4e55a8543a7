#include "analyzers/launch_exposure.hpp"

#include <gtest/gtest.h>

namespace deepjit::analyzers {
namespace {

Gap exposed_gap(std::int64_t length_ns, std::size_t next_kernel, bool between_frames = false) {
    Gap gap;
    gap.interval = {0, length_ns};
    gap.cause = model::GapCause::HostLate;
    gap.next_kernel = next_kernel;
    gap.between_frames = between_frames;
    gap.like_a_launch = between_frames;
    gap.corrected_ns = static_cast<double>(length_ns) - 1;
    return gap;
}

/// Three frames of three kernels, each following at once.
TrackFrames three_frames() {
    TrackFrames frames;
    for (std::size_t i = 0; i < 3; ++i) {
        Frame frame;
        frame.kernels = {3 * i, 3 * i + 1, 3 * i + 2};
        if (i < 2) frame.next_start_ns = 1;
        frames.frames.push_back(frame);
    }
    return frames;
}

TEST(LaunchExposure, a_frame_is_the_sum_of_its_stretches_and_the_median_of_its_frames) {
    GapAnalysis gaps;
    gaps.by_frame = {{exposed_gap(10, 1), exposed_gap(40, 2), exposed_gap(5, 3, true)},
                     {exposed_gap(40, 4), exposed_gap(10, 5), exposed_gap(5, 6, true)},
                     {exposed_gap(10, 7), exposed_gap(10, 8)}};
    const LaunchExposure exposure = launch_exposure(three_frames(), gaps);
    // Frames come to 55, 55 and 25; the medians of the places, 5, 10 and 10, would come to 25 only.
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 3), 55);
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 1), 11);
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 1) + exposure.traced_within(1, 2), 55);
    EXPECT_DOUBLE_EQ(exposure.corrected_within(0, 3), 52);
}

TEST(LaunchExposure, blocked_gaps_and_gaps_that_other_work_ends_are_in_none_of_it) {
    GapAnalysis gaps;
    gaps.by_frame.resize(3);
    for (std::size_t i = 0; i < 3; ++i) {
        Gap blocked = exposed_gap(100, 3 * i + 1);
        blocked.cause = model::GapCause::Blocked;
        gaps.by_frame[i] = {blocked, exposed_gap(7, 3 * i + 2), exposed_gap(50, 99)};
    }
    const LaunchExposure exposure = launch_exposure(three_frames(), gaps);
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 3), 7);
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 2), 0);
}

TEST(LaunchExposure, gaps_that_few_frames_have_are_not_lost) {
    GapAnalysis gaps;
    gaps.by_frame = {{exposed_gap(9, 1)}, {exposed_gap(9, 5)}, {}};
    // Each place is zero in most frames, but two frames of three wait.
    const LaunchExposure exposure = launch_exposure(three_frames(), gaps);
    EXPECT_DOUBLE_EQ(exposure.traced_within(0, 3), 9);
    EXPECT_DOUBLE_EQ(exposure.traced_within(1, 1), 4.5);
}

} // namespace
} // namespace deepjit::analyzers
