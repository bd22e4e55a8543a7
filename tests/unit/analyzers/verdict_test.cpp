#include "analyzers/verdict.hpp"

#include <gmock/gmock.h>

namespace deepjit::analyzers {
namespace {

using model::Advice;
using testing::HasSubstr;

const LaunchConstants kConstants{600, model::Origin::Calibrated, 500};

/// 30 launches, 40 us of work, 90 us of exposed launch time, 3 us before each, in a frame of 150 us.
Stretch thirty_launches() {
    return {30, 40e3, 90e3, false, "", 150e3, 3e3, false};
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
    const auto verdict =
        judge_chain({5, 60e3, 50e3, false, "", 200e3, 10e3, false}, {55e3, 1.0}, {}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::CudaGraph);
}

TEST(JudgeChain, a_chain_in_a_graph_is_never_told_to_use_one) {
    const Stretch chain{30, 40e3, 15e3, true, "", 60e3, 500, false};
    // 55 us before; after it the first gap of 0.5 us and 40, 20 or 5 us of work.
    for (const auto& [inflation, saving_ns] : {std::pair{1.0, 14.5e3}, {2.0, 34.5e3}, {8.0, 49.5e3}}) {
        const auto verdict = judge_chain(chain, {1.5e3, inflation}, {}, kConstants, {});
        EXPECT_EQ(verdict.advice, Advice::Fuse);
        EXPECT_DOUBLE_EQ(verdict.fuse_saving_ns.typical, saving_ns);
        EXPECT_EQ(verdict.graph_saving_ns.high, 0);
    }
    // 41 us before; 40.1 us after it, 0.9 us of 60 us saved: less than the worthwhile share.
    const Stretch tight{30, 40e3, 1e3, true, "", 60e3, 100, false};
    const auto verdict = judge_chain(tight, {1.5e3, 1.0}, {}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::LeaveAlone);
    EXPECT_NEAR(verdict.fuse_saving_ns.typical, 0.9e3, 1e-6);
    EXPECT_THAT(verdict.deciding_term, HasSubstr("the largest saving"));
}

TEST(JudgeChain, a_blocker_rules_the_graph_out) {
    Stretch chain{5, 60e3, 50e3, false, "cuStreamSynchronize after launch 2", 200e3, 10e3, false};
    const auto verdict = judge_chain(chain, {55e3, 1.0}, {}, kConstants, {});
    EXPECT_NE(verdict.advice, Advice::CudaGraph);
    EXPECT_EQ(verdict.graph_blocker, chain.graph_blocker);
}

TEST(JudgeChain, without_launch_calls_only_a_chain_in_a_graph_is_judged) {
    Stretch chain = thirty_launches();
    chain.calls_recorded = false;
    const auto verdict = judge_chain(chain, {1.5e3, 8.0}, {}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::Withheld);
    EXPECT_FALSE(verdict.break_even_frames);
    EXPECT_THAT(verdict.deciding_term, HasSubstr("no launch calls"));
    chain.in_graph = true;
    EXPECT_EQ(judge_chain(chain, {1.5e3, 8.0}, {}, kConstants, {}).advice, Advice::Fuse);
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

TEST(JudgeChain, a_frames_first_gap_stays_whatever_replaces_its_kernels) {
    Stretch frame = thirty_launches();
    frame.begins_frame = true;
    const auto verdict = judge_chain(frame, {1.5e3, 8.0}, {}, kConstants, {});
    // In the stream 130 us; in a graph 40 + 3 + 29 nodes of 0.3; fused 40/8 + 3, in a graph or not.
    EXPECT_DOUBLE_EQ(verdict.ways.as_recorded_ns, 130e3);
    EXPECT_NEAR(*verdict.ways.in_graph_ns, 51.7e3, 1e-6);
    EXPECT_NEAR(verdict.ways.fused_ns, 8e3, 1e-6);
    EXPECT_NEAR(*verdict.ways.fused_in_graph_ns, 8e3, 1e-6);
    EXPECT_NEAR(verdict.fuse_saving_after_graph_ns.typical, 43.7e3, 1e-6);
}

TEST(JudgeFrame, ways_to_run_follow_from_the_chains_that_are_fused) {
    model::ChainAdvice chain;
    chain.chain.steps.resize(30);
    chain.exposed_ns = 90e3;
    chain.verdict = judge_chain(thirty_launches(), {1.5e3, 8.0}, {10, 30e3}, kConstants, {});
    const Stretch frame{40, 60e3, 120e3, false, "", 200e3, 3e3, true};
    const auto verdict = judge_frame(frame, {chain}, kConstants, {});
    EXPECT_EQ(verdict.advice, Advice::FuseThenGraph);
    EXPECT_DOUBLE_EQ(verdict.ways.as_recorded_ns, 200e3);
    // The graph leaves 3 + 39 * 0.3 of 120; fusing saves 122, and 44 more than a graph: 49 to 5.3.
    EXPECT_NEAR(*verdict.ways.in_graph_ns, 94.7e3, 1e-6);
    EXPECT_NEAR(verdict.ways.fused_ns, 78e3, 1e-6);
    EXPECT_NEAR(*verdict.ways.fused_in_graph_ns, 51e3, 1e-6);
}

TEST(JudgeFrame, a_frame_that_no_graph_can_hold_has_no_graph_to_compare_with) {
    Stretch frame = thirty_launches();
    EXPECT_TRUE(judge_frame(frame, {}, kConstants, {}).ways.in_graph_ns);
    frame.graph_blocker = "cuStreamSynchronize after launch 2";
    EXPECT_FALSE(judge_frame(frame, {}, kConstants, {}).ways.in_graph_ns);
}

} // namespace
} // namespace deepjit::analyzers
