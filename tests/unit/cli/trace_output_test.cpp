#include "cli/trace_output.hpp"

#include <gtest/gtest.h>

namespace deepjit::cli {
namespace {

TEST(ShellWord, plain_paths_stay_as_they_are) {
    EXPECT_EQ(shell_word("out/trace-2.db"), "out/trace-2.db");
}

TEST(ShellWord, everything_else_is_quoted_so_that_a_shell_gives_it_back) {
    EXPECT_EQ(shell_word("my trace.db"), "'my trace.db'");
    EXPECT_EQ(shell_word("it's $(rm)"), "'it'\\''s $(rm)'");
    EXPECT_EQ(shell_word(""), "''");
}

} // namespace
} // namespace deepjit::cli
