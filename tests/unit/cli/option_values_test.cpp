#include "cli/option_values.hpp"

#include <gtest/gtest.h>

namespace deepjit::cli {
namespace {

TEST(ParseShare, shares_and_percentages_are_taken) {
    EXPECT_DOUBLE_EQ(*parse_share("--worthwhile", "0.05"), 0.05);
    EXPECT_DOUBLE_EQ(*parse_share("--worthwhile", "5%"), 0.05);
    EXPECT_DOUBLE_EQ(*parse_share("--worthwhile", "0"), 0);
    EXPECT_DOUBLE_EQ(*parse_share("--worthwhile", "100%"), 1);
}

TEST(ParseShare, what_is_no_share_is_refused_and_the_option_named) {
    for (const char* text :
         {"nan", "-nan", "nan%", "inf", "-0.1", "1.01", "101%", "1e9", "", "%", "0.1x", " 0.1", "0x1"}) {
        const auto refused = parse_share("--worthwhile", text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
        EXPECT_EQ(refused.error().message.find("--worthwhile cannot be '"), 0U);
    }
}

TEST(ParseRatio, only_finite_numbers_from_the_least_on_are_taken) {
    EXPECT_DOUBLE_EQ(*parse_ratio("--inflation", "2.5", 1), 2.5);
    for (const char* text : {"nan", "inf", "0.99", "-2", "two", ""})
        EXPECT_FALSE(parse_ratio("--inflation", text, 1)) << text;
}

TEST(ParseCount, only_decimal_digits_within_64_bits_are_taken) {
    EXPECT_EQ(*parse_count("--calls", "29"), 29);
    EXPECT_EQ(*parse_count("--calls", "9223372036854775807"), 9223372036854775807);
    for (const char* text : {"9223372036854775808", "0x10", "0", "-3", "+3", "2.5", "1e3", "", " 7"})
        EXPECT_FALSE(parse_count("--calls", text)) << text;
}

TEST(ParseBytes, units_are_powers_of_1000_or_of_1024) {
    EXPECT_EQ(*parse_bytes("--max-size", "500"), 500);
    EXPECT_EQ(*parse_bytes("--max-size", "64MB"), 64'000'000);
    EXPECT_EQ(*parse_bytes("--max-size", "4GiB"), std::int64_t{4} << 30U);
    EXPECT_EQ(*parse_bytes("--max-size", "1.5 KiB"), 1536);
    EXPECT_EQ(*parse_bytes("--max-size", "2TiB"), std::int64_t{2} << 40U);
}

TEST(ParseBytes, what_is_no_size_is_refused_and_the_option_named) {
    for (const char* text :
         {"", "0", "0.5", "-1", "nan", "GiB", "4gib", "4 GiB ", "1e3", "9e30", "99999999TiB", "1.2.3"}) {
        const auto refused = parse_bytes("--max-size", text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
        EXPECT_EQ(refused.error().message.find("--max-size cannot be '"), 0U);
    }
}

} // namespace
} // namespace deepjit::cli
