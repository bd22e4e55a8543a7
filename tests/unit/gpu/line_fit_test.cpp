#include "src/gpu/line_fit.hpp"

#include <gtest/gtest.h>

namespace deepjit::gpu {
namespace {

TEST(FitLine, RecoversInterceptAndSlope) {
    const auto line = fit_line({{1, 7.5}, {10, 12}, {100, 57}});
    ASSERT_TRUE(line);
    EXPECT_DOUBLE_EQ(line->intercept, 7);
    EXPECT_DOUBLE_EQ(line->slope, 0.5);
}

TEST(FitLine, IsNotMovedByOneDisturbedPoint) {
    const auto line = fit_line({{1, 3}, {2, 5}, {3, 7}, {4, 900}, {5, 11}, {6, 13}});
    ASSERT_TRUE(line);
    EXPECT_DOUBLE_EQ(line->slope, 2);
    EXPECT_DOUBLE_EQ(line->intercept, 1);
}

TEST(FitLine, NeedsTwoDifferentX) {
    EXPECT_FALSE(fit_line({}));
    EXPECT_FALSE(fit_line({{1, 2}}));
    EXPECT_FALSE(fit_line({{1, 2}, {1, 3}}));
}

} // namespace
} // namespace deepjit::gpu
