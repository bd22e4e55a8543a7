#include "analyzers/frames.hpp"

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

} // namespace
} // namespace deepjit::analyzers
