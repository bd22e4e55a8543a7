#include "src/base/units.hpp"

#include <gtest/gtest.h>

namespace deepjit {
namespace {

TEST(Units, durations_with_every_unit_are_read) {
    EXPECT_DOUBLE_EQ(*parse_duration_ns("800ns"), 800);
    EXPECT_DOUBLE_EQ(*parse_duration_ns("318us"), 318e3);
    EXPECT_DOUBLE_EQ(*parse_duration_ns("318 \u00b5s"), 318e3);
    EXPECT_DOUBLE_EQ(*parse_duration_ns(" 12.3ms "), 12.3e6);
    EXPECT_DOUBLE_EQ(*parse_duration_ns("1.5s"), 1.5e9);
}

TEST(Units, a_time_with_no_unit_or_a_sign_is_refused) {
    EXPECT_EQ(parse_duration_ns("12.3").error().message, "'12.3' has no unit");
    EXPECT_EQ(parse_duration_ns("-1ms").error().kind, ErrorKind::Usage);
    EXPECT_FALSE(parse_duration_ns("fast"));
    EXPECT_FALSE(parse_duration_ns("nanms"));
    EXPECT_FALSE(parse_duration_ns("3 weeks"));
}

TEST(Units, a_time_beyond_any_number_is_refused) {
    EXPECT_EQ(parse_duration_ns("1e308s").error().message,
              "'1e308s' is longer than any time that can be counted");
    EXPECT_EQ(*parse_duration_ns("1e308ns"), 1e308);
}

TEST(Units, durations_are_shown_with_three_digits) {
    EXPECT_EQ(format_duration(318e3), "318 \u00b5s");
    EXPECT_EQ(format_duration(12.3e6), "12.3 ms");
    EXPECT_EQ(format_duration(999.9e3), "1.00 ms");
    EXPECT_EQ(format_duration(0), "0 ns");
    EXPECT_EQ(format_duration(-2.5e3), "-2.50 \u00b5s");
}

TEST(Units, counts_are_grouped_by_thousands) {
    EXPECT_EQ(format_count(1048576), "1,048,576");
    EXPECT_EQ(format_count(-1000), "-1,000");
    EXPECT_EQ(format_count(999), "999");
}

} // namespace
} // namespace deepjit
