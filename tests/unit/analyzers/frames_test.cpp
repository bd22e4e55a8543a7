#include "analyzers/frames.hpp"

#include "analyzers/options.hpp"
#include "analyzers/tracks.hpp"

#include <gtest/gtest.h>

namespace deepjit::analyzers {
namespace {

std::vector<std::uint32_t> repeated(const std::vector<std::uint32_t>& part, int times) {
    std::vector<std::uint32_t> all;
    for (int i = 0; i < times; ++i)
        for (const std::uint32_t symbol : part)
            all.push_back(symbol);
    return all;
}

TEST(FindPeriod, a_repeated_layer_is_not_taken_for_the_frame) {
    std::vector<std::uint32_t> frame = {1};
    for (const std::uint32_t symbol : repeated({2, 3, 4}, 24))
        frame.push_back(symbol);
    frame.push_back(5);
    const auto period = find_period(repeated(frame, 10), 3);
    ASSERT_TRUE(period);
    EXPECT_EQ(period->length, frame.size());
}

TEST(FindPeriod, the_shortest_of_equal_periods_is_taken) {
    EXPECT_EQ(find_period(repeated({1, 2, 1, 3}, 8), 3)->length, 4U);
    EXPECT_EQ(find_period(repeated({7}, 12), 3)->length, 1U);
}

TEST(FindPeriod, extra_symbols_at_the_ends_and_between_stretches_do_no_harm) {
    std::vector<std::uint32_t> symbols = {9, 8, 2};
    for (int stretch = 0; stretch < 3; ++stretch) {
        for (const std::uint32_t symbol : repeated({1, 2, 3, 2}, 4 + stretch))
            symbols.push_back(symbol);
        symbols.push_back(6);
    }
    symbols.push_back(9);
    const auto period = find_period(symbols, 3);
    ASSERT_TRUE(period);
    EXPECT_EQ(period->length, 4U);
}

TEST(FindPeriod, what_repeats_too_seldom_has_no_period) {
    EXPECT_FALSE(find_period({}, 3));
    EXPECT_FALSE(find_period({1, 2, 3, 4, 5, 6}, 3));
    EXPECT_FALSE(find_period(repeated({1, 2, 3, 4}, 2), 3));
}

/// Launches of one graph, one a frame, with so many of its kernels recorded.
model::TraceData graph_launches(const std::vector<int>& kernels_recorded) {
    model::TraceData trace;
    std::int64_t time_ns = 1'000'000;
    for (std::size_t launch = 0; launch < kernels_recorded.size(); ++launch) {
        for (int i = 0; i < kernels_recorded[launch]; ++i, time_ns += 2'000) {
            trace::Kernel kernel;
            kernel.kernel_id = static_cast<std::int64_t>(trace.kernels.size()) + 1;
            kernel.config_id = 1;
            kernel.graph_id = 4;
            kernel.graph_node_id = static_cast<std::uint64_t>(i) + 10;
            kernel.correlation_id = static_cast<std::uint32_t>(launch) + 1;
            kernel.start_ns = time_ns;
            kernel.end_ns = time_ns + 1'500;
            trace.kernels.push_back(kernel);
        }
        time_ns += 30'000;
    }
    trace.kernel_configs.push_back({});
    trace.kernel_configs.back().config_id = 1;
    trace.index();
    return trace;
}

TEST(FindFrames, launches_of_a_graph_that_lack_kernels_are_left_out) {
    const model::TraceData trace = graph_launches({3, 5, 5, 2, 5, 5, 5, 1});
    const auto tracks = find_tracks(trace);
    ASSERT_EQ(tracks.size(), 1u);
    const TrackFrames frames = find_frames(trace, tracks.front(), {});
    ASSERT_EQ(frames.frames.size(), 5u);
    for (const Frame& frame : frames.frames)
        EXPECT_EQ(frame.kernels.size(), 5u);
    EXPECT_EQ(frames.incomplete_frames, 3);
    EXPECT_EQ(frames.kernels_outside, 3 + 2 + 1);
    // Where a broken frame follows it is not known when the next one begins.
    EXPECT_TRUE(frames.frames[0].next_start_ns);
    EXPECT_FALSE(frames.frames[1].next_start_ns);
    EXPECT_TRUE(frames.frames[2].next_start_ns);
    EXPECT_FALSE(frames.frames[4].next_start_ns);
}

} // namespace
} // namespace deepjit::analyzers
