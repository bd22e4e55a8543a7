#include "fusers/verify/element_codec.hpp"
#include "fusers/verify/numeric_gate.hpp"
#include "fusers/verify/output_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace deepjit::verify {
namespace {

using graph::DType;
using graph::Rounding;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

Expected same(const graph::Values& values) {
    return {values, values};
}

TEST(NumericGate, error_is_relative_to_the_element_or_to_the_tensor_when_that_is_larger) {
    // The root mean square of {3, 4} is 3.54: above the first, below the second.
    EXPECT_DOUBLE_EQ(measure_error({3, 4.5}, same({3, 4}), DType::Float32, Rounding::Match).error, 0.5 / 4);
    EXPECT_DOUBLE_EQ(measure_error({3.5, 4}, same({3, 4}), DType::Float32, Rounding::Match).error,
                     0.5 / std::sqrt(12.5));
}

TEST(NumericGate, references_repeat_over_the_elements) {
    const auto error = measure_error({1, 2, 1, 2, 7}, same({1, 2}), DType::Float32, Rounding::Match);
    EXPECT_EQ(error.elements, 5);
    EXPECT_DOUBLE_EQ(error.error, 6 / std::sqrt(2.5));
}

TEST(NumericGate, a_missing_nan_is_a_mismatch_and_an_extra_one_too) {
    EXPECT_EQ(measure_error({0, 1}, same({kNaN, 1}), DType::Float32, Rounding::Wide).mismatches, 1);
    const auto extra = measure_error({0, kNaN}, same({0, 1}), DType::Float32, Rounding::Wide);
    EXPECT_EQ(extra.mismatches, 1);
    EXPECT_EQ(extra.first_mismatch, 1);
}

TEST(NumericGate, infinities_must_have_the_right_sign) {
    EXPECT_EQ(measure_error({kInfinity}, same({kInfinity}), DType::Float32, Rounding::Match).mismatches, 0);
    EXPECT_EQ(measure_error({-kInfinity}, same({kInfinity}), DType::Float32, Rounding::Match).mismatches, 1);
}

TEST(NumericGate, infinities_do_not_hide_the_error_of_other_elements) {
    const auto error = measure_error({kInfinity, 2}, same({kInfinity, 1}), DType::Float32, Rounding::Match);
    EXPECT_DOUBLE_EQ(error.error, 1);
}

TEST(NumericGate, overflow_of_an_intermediate_must_be_followed_in_match_and_may_be_avoided_in_wide) {
    const Expected overflowed{{1.0}, {kInfinity}}; // exact 1, but the originals overflowed on the way
    EXPECT_EQ(measure_error({1.0}, overflowed, DType::Float16, Rounding::Match).mismatches, 1);
    EXPECT_EQ(measure_error({kInfinity}, overflowed, DType::Float16, Rounding::Match).mismatches, 0);
    EXPECT_EQ(measure_error({1.0}, overflowed, DType::Float16, Rounding::Wide).mismatches, 0);
    EXPECT_EQ(measure_error({kNaN}, overflowed, DType::Float16, Rounding::Wide).mismatches, 1);
}

TEST(NumericGate, integers_must_be_equal) {
    EXPECT_EQ(measure_error({1, 3}, same({1, 2}), DType::Int32, Rounding::Wide).mismatches, 1);
}

OutputError with_error(double error) {
    OutputError result;
    result.error = error;
    result.elements = 10;
    return result;
}

TEST(NumericGate, fused_may_exceed_the_original_by_one_epsilon_and_no_more) {
    const double epsilon = graph::epsilon_of(DType::Float32);
    EXPECT_TRUE(judge(with_error(3e-7 + epsilon), with_error(3e-7), DType::Float32, "y").passed);
    const GateResult result = judge(with_error(3e-7 + 1.1 * epsilon), with_error(3e-7), DType::Float32, "y");
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.reason,
              "y: the fused error 4.31e-07 exceeds the original's 3e-07 plus the margin 1.19e-07");
}

TEST(NumericGate, a_mismatch_fails_whatever_the_error) {
    OutputError fused = with_error(0);
    fused.mismatches = 1;
    EXPECT_FALSE(judge(fused, with_error(0), DType::Float32, "y").passed);
}

TEST(NumericGate, nothing_passes_by_comparing_nothing_or_with_a_broken_original) {
    EXPECT_FALSE(judge(OutputError{}, with_error(0), DType::Float32, "y").passed);
    OutputError original = with_error(0);
    original.mismatches = 2;
    EXPECT_FALSE(judge(with_error(0), original, DType::Float32, "y").passed);
    EXPECT_FALSE(judge(with_error(kNaN), with_error(0), DType::Float32, "y").passed);
}

TEST(OutputComparison, one_wrong_element_far_behind_the_first_period_is_found) {
    auto stored = encode({1, 2, 3}, DType::Float32, 1000);
    EXPECT_EQ(measure_stored(stored, same({1, 2, 3}), DType::Float32, Rounding::Match).error, 0);
    EXPECT_EQ(measure_stored(stored, same({1, 2, 3}), DType::Float32, Rounding::Match).elements, 1000);
    stored[4 * 777 + 3] ^= std::byte{0x10};
    EXPECT_GT(measure_stored(stored, same({1, 2, 3}), DType::Float32, Rounding::Match).error, 0.1);
}

TEST(OutputComparison, nans_of_any_payload_count_as_equal_bits) {
    const auto left = encode({1, kNaN, 0.0}, DType::Float32, 3);
    auto right = left;
    right[4] = std::byte{1};
    EXPECT_EQ(count_different_bits(left, right, DType::Float32), 0);
    right[11] = std::byte{0x80}; // +0 to -0
    EXPECT_EQ(count_different_bits(left, right, DType::Float32), 1);
}

TEST(ElementCodec, every_finite_float16_survives_the_way_there_and_back) {
    for (int bits = 0; bits < 65536; ++bits) {
        if ((bits >> 10 & 31) == 31) continue;
        const std::vector<std::byte> bytes = {static_cast<std::byte>(bits & 255),
                                              static_cast<std::byte>(bits >> 8)};
        EXPECT_EQ(encode(decode(bytes, DType::Float16), DType::Float16, 1), bytes) << bits;
    }
}

TEST(ElementCodec, known_bits) {
    EXPECT_EQ(encode({1.0}, DType::BFloat16, 1), (std::vector<std::byte>{std::byte{0x80}, std::byte{0x3f}}));
    EXPECT_EQ(encode({-2.0}, DType::Float16, 1), (std::vector<std::byte>{std::byte{0x00}, std::byte{0xc0}}));
    EXPECT_EQ(encode({kInfinity}, DType::Float16, 1),
              (std::vector<std::byte>{std::byte{0x00}, std::byte{0x7c}}));
    EXPECT_EQ(encode({-1}, DType::Int32, 1), std::vector<std::byte>(4, std::byte{0xff}));
}

} // namespace
} // namespace deepjit::verify
