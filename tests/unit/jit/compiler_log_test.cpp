#include "fusers/jit/compiler_log.hpp"

#include <gtest/gtest.h>

namespace deepjit::jit {
namespace {

constexpr std::string_view kVerboseLog =
    "k.cu(1): warning #177-D: variable \"x\" was declared but never referenced\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'spilling' for 'sm_90'\n"
    "ptxas info    : Function properties for spilling\n"
    "ptxas         .     64 bytes stack frame, 48 bytes spill stores, 52 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 64 bytes cumulative stack size, 308 bytes smem\n"
    "ptxas info    : Compile time = 2.945 ms\n"
    "ptxas info    : Compiling entry function 'plain' for 'sm_90'\n"
    "ptxas info    : Function properties for plain\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 0 barriers\n";

TEST(ParseResources, ReadsRegistersSpillsAndSharedMemoryOfEachEntry) {
    const std::vector<EntryResources> entries = parse_resources(kVerboseLog);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].name, "spilling");
    EXPECT_EQ(entries[0].registers_per_thread, 255);
    EXPECT_EQ(entries[0].stack_bytes, 64);
    EXPECT_EQ(entries[0].spill_store_bytes, 48);
    EXPECT_EQ(entries[0].spill_load_bytes, 52);
    EXPECT_EQ(entries[0].static_shared_bytes, 308);
    EXPECT_EQ(entries[1].name, "plain");
    EXPECT_EQ(entries[1].registers_per_thread, 10);
    EXPECT_EQ(entries[1].spill_store_bytes, 0);
    EXPECT_EQ(entries[1].static_shared_bytes, 0);
}

TEST(WithoutFigures, KeepsWarningsOnly) {
    EXPECT_EQ(without_figures(kVerboseLog),
              "k.cu(1): warning #177-D: variable \"x\" was declared but never referenced");
}

TEST(ExplainErrors, QuotesTheLineThatAnErrorPointsAt) {
    EXPECT_EQ(explain_errors("k.cu(2): error: identifier \"y\" is undefined\n      ^\n",
                             "int a;\n  int x = y;\nint b;"),
              "line 2: identifier \"y\" is undefined, at `int x = y;`");
}

TEST(ExplainErrors, CountsTheErrorsThatItLeavesOut) {
    const std::string log = "k.cu(1): error: one\nk.cu(1): error: two\nk.cu(1): error: three\n";
    EXPECT_EQ(explain_errors(log, "x", 1), "line 1: one, at `x`; and 2 more");
}

TEST(ExplainErrors, SurvivesALineNumberBeyondTheSource) {
    EXPECT_EQ(explain_errors("k.cu(99): error: odd\n", "x"), "line 99: odd");
}

TEST(ExplainErrors, GivesTheLogWhereItNamesNoLine) {
    EXPECT_EQ(explain_errors("nvrtc: error: invalid option\n", ""), "nvrtc: error: invalid option");
}

} // namespace
} // namespace deepjit::jit
