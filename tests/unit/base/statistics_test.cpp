#include "src/base/statistics.hpp"

#include <gtest/gtest.h>

namespace deepjit {
namespace {

TEST(Median, TakesTheMiddleOrTheMeanOfTheMiddleTwo) {
    EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
    EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
    EXPECT_DOUBLE_EQ(median({}), 0);
}

} // namespace
} // namespace deepjit
