#include "src/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace deepjit {
namespace {

Result<int> parse(bool good) {
    if (good) return 7;
    return usage_error("bad number", "it is 'x'", "give digits");
}

Result<std::string> doubled(bool good) {
    DEEPJIT_TRY(const int number, parse(good));
    return std::to_string(2 * number);
}

Result<void> check_only(bool good) {
    DEEPJIT_CHECK(parse(good));
    return {};
}

TEST(Result, holds_a_value_or_what_went_wrong) {
    EXPECT_TRUE(parse(true));
    EXPECT_EQ(*parse(true), 7);
    ASSERT_FALSE(parse(false));
    EXPECT_EQ(parse(false).error().kind, ErrorKind::Usage);
    EXPECT_EQ(parse(false).error().message, "bad number");
    EXPECT_EQ(parse(false).error().evidence, "it is 'x'");
    EXPECT_EQ(parse(false).error().hint, "give digits");
    EXPECT_EQ(parse(false).value_or(3), 3);
    EXPECT_EQ(parse(true).value_or(3), 7);
}

TEST(Result, try_passes_the_error_on_whole) {
    EXPECT_EQ(*doubled(true), "14");
    EXPECT_EQ(doubled(false).error().hint, "give digits");
    EXPECT_TRUE(check_only(true));
    EXPECT_EQ(check_only(false).error().kind, ErrorKind::Usage);
}

TEST(Result, moves_what_cannot_be_copied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
    const auto use = [&]() -> Result<int> {
        DEEPJIT_TRY(const std::unique_ptr<int> owned, make());
        return *owned;
    };
    EXPECT_EQ(*use(), 5);
}

TEST(Diagnostic, makers_set_the_kind_that_becomes_the_exit_code) {
    EXPECT_EQ(failure("x").kind, ErrorKind::Failed);
    EXPECT_EQ(environment_error("x").kind, ErrorKind::Environment);
    EXPECT_EQ(verification_error("x").kind, ErrorKind::Verification);
}

} // namespace
} // namespace deepjit
