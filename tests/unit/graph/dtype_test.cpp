#include "src/graph/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace deepjit::graph {
namespace {

constexpr double kOverflow = std::numeric_limits<double>::infinity();

TEST(DType, Float16RoundsTiesToEvenAndOverflowsToInfinity) {
    EXPECT_EQ(round_to(DType::Float16, 1 + std::ldexp(1.0, -11)), 1.0);
    EXPECT_EQ(round_to(DType::Float16, 1 + 3 * std::ldexp(1.0, -11)), 1 + std::ldexp(1.0, -9));
    EXPECT_EQ(round_to(DType::Float16, 65519.99), 65504.0);
    EXPECT_EQ(round_to(DType::Float16, 65520.0), kOverflow);
    EXPECT_EQ(round_to(DType::Float16, -1e6), -kOverflow);
}

TEST(DType, DenormalsKeepTheirSpacingAndZeroItsSign) {
    EXPECT_EQ(round_to(DType::Float16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24));
    EXPECT_EQ(round_to(DType::Float16, std::ldexp(1.0, -25)), 0.0);
    EXPECT_EQ(round_to(DType::Float16, 1.5 * std::ldexp(1.0, -24)), std::ldexp(1.0, -23));
    EXPECT_TRUE(std::signbit(round_to(DType::Float16, -std::ldexp(1.0, -26))));
    EXPECT_TRUE(std::signbit(round_to(DType::BFloat16, -0.0)));
}

TEST(DType, Float32AgreesWithTheMachine) {
    for (const double value : {0.1, -1e-40, 1e-46, 3.4028235e38, 3.4028236e38, 1e39, 16777217.0, 7e-46})
        EXPECT_EQ(round_to(DType::Float32, value), static_cast<double>(static_cast<float>(value))) << value;
    EXPECT_TRUE(std::isnan(round_to(DType::Float32, std::nan(""))));
}

TEST(DType, BFloat16KeepsEightBits) {
    EXPECT_EQ(round_to(DType::BFloat16, 1 + std::ldexp(1.0, -8)), 1.0);
    EXPECT_EQ(round_to(DType::BFloat16, 1 + 3 * std::ldexp(1.0, -8)), 1 + std::ldexp(1.0, -6));
    // The largest is 255 * 2^120; half a spacing above it, infinity begins.
    EXPECT_EQ(round_to(DType::BFloat16, 3.39e38), std::ldexp(255.0, 120));
    EXPECT_EQ(round_to(DType::BFloat16, 3.4e38), kOverflow);
}

TEST(DType, IntegersSaturate) {
    EXPECT_EQ(round_to(DType::Int8, 200), 127);
    EXPECT_EQ(round_to(DType::UInt8, -3), 0);
    EXPECT_EQ(round_to(DType::Int32, 2.5), 2);
}

TEST(DType, NamesRoundTrip) {
    for (int i = 0; i <= static_cast<int>(DType::Bool); ++i) {
        const auto dtype = static_cast<DType>(i);
        EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
    }
    EXPECT_FALSE(dtype_named("float8"));
}

} // namespace
} // namespace deepjit::graph
