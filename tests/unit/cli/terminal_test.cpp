#include "cli/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace deepjit::cli {
namespace {

/// stdout and stderr are pipes or files here; what a terminal changes is tested in tests/golden.
class TerminalSettings : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"})
            unsetenv(name);
    }
    void TearDown() override { SetUp(); }
};

TEST_F(TerminalSettings, an_empty_NO_COLOR_does_not_count_and_zero_does) {
    setenv("FORCE_COLOR", "1", 1);
    setenv("NO_COLOR", "", 1);
    EXPECT_TRUE(Terminal().stdout_has_color());
    setenv("NO_COLOR", "0", 1);
    EXPECT_FALSE(Terminal().stdout_has_color());
}

TEST(PrintedError, gives_back_what_a_terminal_printed_last) {
    testing::internal::CaptureStderr();
    Terminal terminal;
    terminal.set_color(ColorChoice::Never);
    terminal.error(failure("the first", "x", "y"));
    terminal.warn(failure("a warning", "not this"));
    terminal.error(failure("it broke", "cuInit answered 100", "look at nvidia-smi"));
    const auto error = printed_error(testing::internal::GetCapturedStderr() + "another line\n");
    ASSERT_TRUE(error);
    EXPECT_EQ(error->message, "it broke");
    EXPECT_EQ(error->evidence, "cuInit answered 100");
    EXPECT_EQ(error->hint, "look at nvidia-smi");
    EXPECT_FALSE(printed_error("Segmentation fault\n"));
}

TEST_F(TerminalSettings, lines_are_broken_at_COLUMNS_and_printed_error_joins_them) {
    setenv("COLUMNS", "40", 1);
    const std::string cause = "cuInit answered 100, which is CUDA_ERROR_NO_DEVICE, on every call";
    testing::internal::CaptureStderr();
    Terminal terminal;
    terminal.set_color(ColorChoice::Never);
    terminal.error(failure("it broke", cause));
    terminal.next_command("deepjit advise a_name_that_is_long.db --format json");
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text, "error: it broke\n"
                    "  cause: cuInit answered 100, which is\n"
                    "    CUDA_ERROR_NO_DEVICE, on every call\n"
                    "next: deepjit advise a_name_that_is_long.db --format json\n");
    EXPECT_EQ(printed_error(text)->evidence, cause);
    unsetenv("COLUMNS");
    testing::internal::CaptureStderr();
    terminal.error(failure("it broke", cause));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: it broke\n  cause: " + cause + "\n");
}

TEST_F(TerminalSettings, the_flag_comes_before_the_environment) {
    Terminal terminal;
    setenv("NO_COLOR", "1", 1);
    terminal.set_color(ColorChoice::Always);
    EXPECT_TRUE(terminal.stderr_has_color());
    setenv("FORCE_COLOR", "1", 1);
    terminal.set_color(ColorChoice::Never);
    EXPECT_FALSE(terminal.stderr_has_color());
}

TEST_F(TerminalSettings, COLUMNS_sets_the_width_and_nonsense_in_it_does_not) {
    setenv("COLUMNS", "132", 1);
    EXPECT_EQ(Terminal().width(), 132u);
    setenv("COLUMNS", "5", 1);
    EXPECT_EQ(Terminal().width(), 40u);
    setenv("COLUMNS", "wide", 1);
    EXPECT_NE(Terminal().width(), 0u);
}

TEST_F(TerminalSettings, untrusted_names_cannot_move_the_cursor_or_pass_for_another_line) {
    testing::internal::CaptureStderr();
    Terminal terminal;
    terminal.set_color(ColorChoice::Never);
    terminal.set_line_prefix("deepjit: ");
    terminal.error(failure("bad name '\x1b[2J\nerror: forged'", "one\ntwo", "fix it"));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "deepjit: error: bad name '\\x1b[2J\n"
                                                      "deepjit:     error: forged'\n"
                                                      "deepjit:   cause: one\n"
                                                      "deepjit:     two\n"
                                                      "deepjit:   hint: fix it\n");
}

} // namespace
} // namespace deepjit::cli
