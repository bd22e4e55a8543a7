#include "src/model/launch_model.hpp"
#include "src/model/launch_summary.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace deepjit::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LaunchModel, the_seed_case_is_three_quarters_launches) {
    const auto estimate = solve_launch_model({12.3e6, 3.4e6, 29});
    ASSERT_TRUE(estimate);
    EXPECT_NEAR(estimate->launch_ns, 0.317857e6, 1); // 8.9 ms / 28
    EXPECT_NEAR(estimate->work_ns, 3.082143e6, 1);   // 3.4 ms - L
    EXPECT_NEAR(estimate->launch_share, 0.74942, 1e-5);
    EXPECT_NEAR(estimate->fused_launch_share, 0.09349, 1e-5);
}

TEST(LaunchModel, the_second_seed_case_is_left_alone) {
    const auto summary = summarise_launches({.serial_ns = 1.15e6, .fused_ns = 1.12e6, .calls = 29});
    ASSERT_TRUE(summary);
    EXPECT_LT(summary->estimate->launch_share, 0.03);
    EXPECT_EQ(summary->leave_alone, true);
}

TEST(LaunchModel, amdahl_says_what_the_seed_frame_gains) {
    const auto summary = summarise_launches(
        {.serial_ns = 0.68e6, .fused_ns = 0.09e6, .graph_ns = 0.36e6, .frame_ns = 2.31e6, .calls = 29});
    ASSERT_TRUE(summary);
    EXPECT_NEAR(summary->frame_fused->frame_ns, 1.72e6, 1);
    EXPECT_NEAR(summary->frame_fused->saved_share, 0.2554, 1e-4);
    EXPECT_NEAR(summary->frame_graph->frame_ns, 1.99e6, 1);
    EXPECT_EQ(summary->leave_alone, false);
}

TEST(LaunchModel, work_below_zero_within_the_noise_counts_as_zero) {
    // L = 9.9/28 ms = 0.3536 ms, T = 0.34 - L = -0.0136 ms.
    const LaunchTotals totals{.serial_ns = 10.24e6, .fused_ns = 0.34e6, .calls = 29, .noise_ns = 0};
    const auto refused = solve_launch_model(totals);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
    EXPECT_THAT(refused.error().message, HasSubstr("T cannot be -13.6 \u00b5s"));
    LaunchTotals noisy = totals;
    noisy.noise_ns = 0.02e6;
    const auto accepted = solve_launch_model(noisy);
    ASSERT_TRUE(accepted);
    EXPECT_EQ(accepted->work_ns, 0);
    EXPECT_TRUE(accepted->work_counted_as_zero);
    // All of the serial time is launches then, so that K·L and its share go together.
    EXPECT_DOUBLE_EQ(accepted->launch_total_ns, 10.24e6);
    EXPECT_DOUBLE_EQ(accepted->launch_ns * 29, 10.24e6);
    EXPECT_EQ(accepted->launch_share, 1);
}

TEST(LaunchModel, one_call_or_a_slower_fused_kernel_is_refused_by_name) {
    EXPECT_THAT(solve_launch_model({12e6, 3e6, 1}).error().message, HasSubstr("K cannot be 1"));
    EXPECT_THAT(solve_launch_model({1.12e6, 1.15e6, 29}).error().message, HasSubstr("L cannot be -"));
    const auto within_noise = solve_launch_model({1.12e6, 1.15e6, 29, 0.05e6});
    ASSERT_TRUE(within_noise);
    EXPECT_EQ(within_noise->launch_total_ns, 0);
    EXPECT_EQ(within_noise->work_ns, 1.12e6);
    EXPECT_FALSE(solve_launch_model({0, 0, 29}));
}

// Published cases; the numbers are rows of a public collection, named here by their source.

const std::vector<LaunchPoint> kPlainLaunches = {{8, 51.9e3},   {16, 119.3e3}, {24, 159.1e3},
                                                 {36, 233.5e3}, {64, 411.7e3}, {117, 735.4e3}};
const std::vector<LaunchPoint> kGraphLaunches = {{8, 19.4e3},  {16, 25.6e3}, {24, 28.7e3},
                                                 {36, 37.9e3}, {64, 49.1e3}, {117, 82.9e3}};

TEST(LaunchFit, empty_kernels_of_ocannl_488_cost_6_point_2_us_with_a_fixed_term_and_6_point_5_without) {
    const auto fit = fit_launch_points(kPlainLaunches);
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->slope_ns, 6.20e3, 0.02e3);
    EXPECT_GT(fit->through_origin_ns, 6.3e3);
    EXPECT_LT(fit->through_origin_ns, 6.5e3);
}

TEST(LaunchFit, the_outlier_of_ocannl_488_is_named_and_does_not_drag_the_line) {
    const auto fit = fit_launch_points(kPlainLaunches);
    EXPECT_THAT(fit->outliers, ElementsAre(1U));
    std::vector<LaunchPoint> worse = kPlainLaunches;
    worse[1].total_ns *= 10;
    const auto dragged = fit_launch_points(worse);
    EXPECT_NEAR(dragged->slope_ns, fit->slope_ns, 0.15e3);
    EXPECT_THAT(dragged->outliers, testing::Contains(1U));
}

TEST(LaunchFit, few_points_tell_no_outlier) {
    // Three honest points, 1 % off a line. Of the residuals 0, 0.06 and 0.39 us the median says nothing.
    const auto three = fit_launch_points({{1, 10e3}, {2, 12.1e3}, {10, 28e3}});
    ASSERT_TRUE(three);
    EXPECT_FALSE(three->judges_outliers);
    EXPECT_TRUE(three->outliers.empty());
    std::vector<LaunchPoint> five(kPlainLaunches.begin(), kPlainLaunches.begin() + 5);
    five[1].total_ns *= 10;
    EXPECT_TRUE(fit_launch_points(five)->outliers.empty());
    EXPECT_TRUE(fit_launch_points(kPlainLaunches)->judges_outliers);
}

TEST(LaunchFit, graph_replays_of_ocannl_488_cost_15_us_and_0_58_a_node) {
    const auto fit = fit_launch_points(kGraphLaunches);
    ASSERT_TRUE(fit);
    EXPECT_NEAR(fit->slope_ns, 0.58e3, 0.03e3);
    EXPECT_NEAR(fit->intercept_ns, 15e3, 1.0e3);
}

TEST(LaunchFit, points_on_a_line_have_no_outlier_and_equal_k_is_refused) {
    const auto fit = fit_launch_points({{1, 12e3}, {2, 14e3}, {5, 20e3}});
    EXPECT_DOUBLE_EQ(fit->slope_ns, 2e3);
    EXPECT_DOUBLE_EQ(fit->intercept_ns, 10e3);
    EXPECT_TRUE(fit->outliers.empty());
    EXPECT_FALSE(fit_launch_points({{4, 12e3}, {4, 14e3}}));
    EXPECT_FALSE(fit_launch_points({{4, 14e3}, {8, 12e3}}));
}

TEST(GraphDifference, megaqwen_gains_46_percent_from_a_graph_and_10_more_from_one_kernel) {
    const auto graph = compare_with_graph(347.5e3, 186.9e3, 225);
    EXPECT_NEAR(graph->serial_per_call_ns, 1544, 1);
    EXPECT_NEAR(graph->graph_per_node_ns, 831, 1);
    EXPECT_NEAR(graph->saved_share, 0.462, 0.001);
    const auto kernel_after_graph = compare_with_graph(186.9e3, 167.3e3, 225);
    EXPECT_NEAR(kernel_after_graph->saved_share, 0.105, 0.001);
}

TEST(GraphDifference, cuda_oxide_574_is_left_alone_and_its_saving_does_not_grow_with_k) {
    struct Path {
        double serial_ns, graph_ns;
        std::int64_t nodes;
        double per_node_ns;
    };
    for (const Path& path : {Path{3.867e6, 3.697e6, 173, 983}, Path{4.670e6, 4.491e6, 222, 806},
                             Path{9.180e6, 9.002e6, 293, 608}}) {
        const auto summary =
            summarise_launches({.serial_ns = path.serial_ns, .graph_ns = path.graph_ns, .calls = path.nodes});
        ASSERT_TRUE(summary);
        EXPECT_NEAR(summary->graph->per_node_ns, path.per_node_ns, 1);
        EXPECT_EQ(summary->leave_alone, true);
    }
}

TEST(GraphDifference, julia_graphs_are_launch_bound) {
    const auto ode = compare_with_graph(260e3, 70e3, 80);
    EXPECT_NEAR(ode->serial_per_call_ns, 3250, 1);
    EXPECT_NEAR(ode->graph_per_node_ns, 875, 1);
    EXPECT_NEAR(ode->speedup, 3.71, 0.01);
    EXPECT_NEAR(compare_with_graph(50e3, 16e3, 8)->speedup, 3.125, 0.001);
}

TEST(GraphDifference, paddle_53406_hides_its_launches_behind_the_gpu_and_is_left_alone) {
    // The host's 12.88 ms of enqueueing is no input at all: only what the run gains counts.
    const auto first = summarise_launches({.serial_ns = 14.64e6, .graph_ns = 14.44e6, .calls = 500});
    EXPECT_NEAR(first->graph->saved_share, 0.0137, 1e-4);
    EXPECT_EQ(first->leave_alone, true);
    const auto second = summarise_launches({.serial_ns = 6.5e6, .graph_ns = 6.5e6, .calls = 500});
    EXPECT_EQ(second->graph->saved_share, 0);
    EXPECT_EQ(second->leave_alone, true);
}

TEST(KnownLaunchCost, realizar_36_claims_more_launch_time_than_there_is_time) {
    const auto refused = apply_launch_cost(4.61e6, 20e3, 280, 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
    EXPECT_THAT(refused.error().message,
                HasSubstr("L cannot be 20.0 \u00b5s: 280 of them alone would take 5.60 ms"));
}

TEST(KnownLaunchCost, share_and_what_fusing_could_leave_follow_from_k_and_l) {
    const auto cost = apply_launch_cost(104e3, 2.5e3, 30, 0);
    EXPECT_NEAR(cost->launch_share, 0.7212, 1e-4);
    EXPECT_DOUBLE_EQ(cost->work_ns, 29e3);
    EXPECT_DOUBLE_EQ(cost->fused_ns, 31.5e3);
}

TEST(KnownLaunchCost, launches_above_the_whole_within_the_noise_are_all_of_it) {
    const auto cost = apply_launch_cost(100e3, 3.4e3, 30, 5e3);
    ASSERT_TRUE(cost);
    EXPECT_DOUBLE_EQ(cost->launch_total_ns, 100e3);
    EXPECT_DOUBLE_EQ(cost->launch_ns * 30, 100e3);
    EXPECT_EQ(cost->work_ns, 0);
}

TEST(LaunchSummary, no_advice_is_given_where_nothing_was_compared) {
    const auto fit_only = summarise_launches({.points = {{8, 51.9e3}, {16, 119.3e3}}});
    ASSERT_TRUE(fit_only);
    EXPECT_FALSE(fit_only->leave_alone.has_value());
    const auto with_serial = summarise_launches({.serial_ns = 1e6, .points = {{8, 51.9e3}, {16, 119.3e3}}});
    ASSERT_TRUE(with_serial);
    EXPECT_FALSE(with_serial->leave_alone.has_value());
}

TEST(LaunchSummary, missing_numbers_are_named) {
    EXPECT_THAT(summarise_launches({}).error().hint, HasSubstr("--serial"));
    EXPECT_THAT(summarise_launches({.fused_ns = 1e3, .calls = 2}).error().message, HasSubstr("--serial"));
    EXPECT_THAT(summarise_launches({.serial_ns = 2e3, .fused_ns = 1e3}).error().hint, HasSubstr("--calls"));
}

TEST(LaunchSummary, a_frame_shorter_than_its_part_is_refused) {
    const auto refused =
        summarise_launches({.serial_ns = 3e6, .fused_ns = 1e6, .frame_ns = 2e6, .calls = 20});
    EXPECT_THAT(refused.error().message, HasSubstr("the frame cannot be 2.00 ms"));
}

} // namespace
} // namespace deepjit::model
