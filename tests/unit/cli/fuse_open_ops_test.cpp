#include "cli/fuse_open_ops.hpp"

#include <gtest/gtest.h>

namespace deepjit::cli {
namespace {

graph::Op open(const std::string& source, const std::string& reason) {
    graph::Op op;
    op.type = "Open";
    op.source = source;
    op.reason = reason;
    return op;
}

graph::Op lifted(const std::string& type, const std::string& source) {
    graph::Op op;
    op.type = type;
    op.source = source;
    return op;
}

TEST(OpenOpsRefusal, equal_reasons_stand_together_with_the_numbers_of_their_kernels) {
    graph::ChainGraph chain;
    chain.ops = {open("scale(float*)", "No lifter knows the kernel 'scale'.")};
    chain.ops.push_back(lifted("Add", "add(float*)"));
    chain.ops.push_back(lifted("RoundTo", "add(float*)"));
    for (int i = 0; i < 3; ++i)
        chain.ops.push_back(open("scale(float*)", "No lifter knows the kernel 'scale'."));
    chain.ops.push_back(open("mish(float*)", "Its arguments were not recorded."));
    const Diagnostic refusal = open_ops_refusal(chain, "chain.json", "deepjit fuse chain.json --emit out");
    EXPECT_EQ(refusal.message, "5 kernels of the chain could not be lifted");
    EXPECT_EQ(refusal.evidence, "kernels 1 and 3 to 5: No lifter knows the kernel 'scale'\n"
                                "kernel 6 (mish): Its arguments were not recorded");
    EXPECT_TRUE(refusal.hint.ends_with("\ndeepjit fuse chain.json --emit out")) << refusal.hint;
}

TEST(OpenOpsRefusal, kernels_of_one_name_in_a_row_are_counted_one_by_one) {
    graph::ChainGraph chain;
    for (int i = 0; i < 2; ++i)
        for (const char* type : {"Mul", "Add", "RoundTo"})
            chain.ops.push_back(lifted(type, "twice(float*)"));
    chain.ops.push_back(lifted("RoundTo", "copy(float*)"));
    chain.ops.push_back(open("last(float*)", "why"));
    EXPECT_EQ(open_ops_refusal(chain, "c", "d").evidence, "kernel 4 (last): why");
}

} // namespace
} // namespace deepjit::cli
