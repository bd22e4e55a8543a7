#include "analyzers/verdict.hpp"

#include <gmock/gmock.h>

namespace deepjit::analyzers {
namespace {

using model::Advice;
using testing::HasSubstr;

const LaunchConstants kConstants{600, model::Origin::Calibrated, 500};

/// 30 launches, 40 us of work, 90 us of exposed launch time in a frame of 150 us.
Stretch thirty_launches() {
    return {30, 40e3, 90e3, false, "", 150e3};
}

TEST(JudgeChain, many_launches_whose_bytes_vanish_are_fused_and_repay_after_so_many_frames) {
    const auto verdict = judge_chain(thirty_launches(), {1.5e3, 8.0}, {}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::Fuse);
    // 130 us before; after it one launch of 3 us and 40/8 us of work.
    EXPECT_DOUBLE_EQ(verdict.fuse_saving_ns.typical, 122e3);
    EXPECT_NEAR(*verdict.break_even_frames, 2e9 / 122e3, 1e-6);
    // The graph leaves between 40 and 58 us.
    EXPECT_DOUBLE_EQ(verdict.graph_saving_ns.low, 72e3);
    EXPECT_DOUBLE_EQ(verdict.graph_saving_ns.high, 90e3);
}

TEST(JudgeChain, where_fusing_adds_little_a_graph_is_enough) {
    // One step holds nearly all of the work, and no bytes are saved.
    const auto verdict = judge_chain({5, 60e3, 50e3, false, "", 200e3}, {55e3, 1.0}, {}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::CudaGraph);
}

TEST(JudgeChain, a_chain_in_a_graph_is_never_told_to_use_one) {
    Stretch chain{30, 40e3, 15e3, true, "", 60e3};
    for (const double inflation : {1.0, 2.0, 8.0}) {
        const auto verdict = judge_chain(chain, {1.5e3, inflation}, {}, kConstants, {});
        EXPECT_TRUE(verdict.advice == Advice::Fuse || verdict.advice == Advice::LeaveAlone);
        EXPECT_EQ(verdict.graph_saving_ns.high, 0);
    }
}

TEST(JudgeChain, a_blocker_rules_the_graph_out) {
    Stretch chain{5, 60e3, 50e3, false, "cuStreamSynchronize after launch 2", 200e3};
    const auto verdict = judge_chain(chain, {55e3, 1.0}, {}, kConstants, {});
    EXPECT_NE(verdict.advice, Advice::CudaGraph);
    EXPECT_EQ(verdict.graph_blocker, chain.graph_blocker);
}

TEST(JudgeChain, a_saving_below_the_tracers_own_cost_is_withheld) {
    LaunchConstants expensive = kConstants;
    expensive.tracer_launch_ns = 10e3; // 300 us for 30 launches
    const auto verdict = judge_chain(thirty_launches(), {1.5e3, 8.0}, {}, expensive, {});
    EXPECT_EQ(verdict.advice, Advice::Withheld);
    EXPECT_THAT(verdict.deciding_term, HasSubstr("smaller than what tracing cost"));
    EXPECT_FALSE(verdict.break_even_frames);
}

TEST(JudgeChain, a_small_part_of_a_long_frame_is_left_alone) {
    Stretch chain = thirty_launches();
    chain.frame_ns = 50e6;
    EXPECT_EQ(judge_chain(chain, {1.5e3, 8.0}, {}, kConstants, {}).advice, Advice::LeaveAlone);
}

TEST(JudgeChain, a_graph_follows_only_where_the_rest_of_the_frame_waits_for_launches) {
    EXPECT_EQ(judge_chain(thirty_launches(), {1.5e3, 8.0}, {20, 60e3}, kConstants, {}).advice,
              Advice::FuseThenGraph);
    EXPECT_EQ(judge_chain(thirty_launches(), {1.5e3, 8.0}, {20, 1e3}, kConstants, {}).advice, Advice::Fuse);
}

} // namespace
} // namespace deepjit::analyzers
