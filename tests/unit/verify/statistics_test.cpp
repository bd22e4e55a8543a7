#include "fusers/verify/benchmark.hpp"
#include "fusers/verify/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace deepjit::verify {
namespace {

std::vector<double> one_to(int count) {
    std::vector<double> samples(static_cast<std::size_t>(count));
    std::iota(samples.begin(), samples.end(), 1.0);
    return samples;
}

Estimate interval(double low_ns, double median_ns, double high_ns) {
    return {median_ns, low_ns, high_ns, 31, true};
}

TEST(Statistics, the_median_of_an_even_count_lies_between_the_middle_two) {
    EXPECT_DOUBLE_EQ(estimate_median({4, 1, 3, 2}).median_ns, 2.5);
    EXPECT_DOUBLE_EQ(estimate_median({9, 1, 5}).median_ns, 5);
}

// Ranks from tables of the sign test: n = 6 -> 1 and 6, n = 15 -> 4 and 12, n = 31 -> 10 and 22.
TEST(Statistics, intervals_are_the_order_statistics_of_the_sign_test) {
    EXPECT_DOUBLE_EQ(estimate_median(one_to(6)).low_ns, 1);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(6)).high_ns, 6);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(15)).low_ns, 4);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(15)).high_ns, 12);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(31)).low_ns, 10);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(31)).high_ns, 22);
}

TEST(Statistics, fewer_than_six_samples_have_no_95_percent_interval) {
    EXPECT_FALSE(estimate_median(one_to(5)).covers_95_percent);
    EXPECT_TRUE(estimate_median(one_to(6)).covers_95_percent);
    EXPECT_DOUBLE_EQ(estimate_median(one_to(5)).high_ns, 5);
}

TEST(Statistics, an_outlier_moves_neither_the_median_nor_the_interval) {
    std::vector<double> samples = one_to(31);
    samples.back() = 1e9;
    EXPECT_DOUBLE_EQ(estimate_median(samples).median_ns, 16);
    EXPECT_DOUBLE_EQ(estimate_median(samples).high_ns, 22);
}

TEST(Statistics, overlapping_intervals_are_ambiguous) {
    EXPECT_EQ(compare(interval(8, 9, 10), interval(10, 11, 12)), Comparison::Ambiguous);
    EXPECT_EQ(compare(interval(8, 9, 9.9), interval(10, 11, 12)), Comparison::Faster);
    EXPECT_EQ(compare(interval(12.1, 13, 14), interval(10, 11, 12)), Comparison::Slower);
}

TEST(Statistics, too_few_samples_are_ambiguous_however_far_apart) {
    EXPECT_EQ(compare(estimate_median({1, 1, 1}), estimate_median({100, 100, 100})), Comparison::Ambiguous);
}

Benchmark benchmark_of(Estimate original_stream, Estimate original_graph, Estimate fused_stream,
                       Estimate fused_graph) {
    Benchmark benchmark;
    benchmark.measured = true;
    benchmark.states.push_back({L2State::Cold, original_stream, original_graph, fused_stream, fused_graph});
    return benchmark;
}

TEST(Recommendation, faster_both_ways_is_recommended) {
    const auto result = recommend(
        benchmark_of(interval(39, 40, 41), interval(19, 20, 21), interval(9, 10, 11), interval(4, 5, 6)));
    EXPECT_TRUE(result.recommended);
    EXPECT_EQ(result.sentence,
              "Recommended: the fused kernel is faster in a stream by 4.00x (40 ns to 10 ns) and "
              "faster in a CUDA Graph by 4.00x (20 ns to 5 ns).");
}

TEST(Recommendation, a_kernel_that_is_slower_in_a_graph_is_not_recommended_though_it_wins_in_a_stream) {
    const auto result = recommend(
        benchmark_of(interval(39, 40, 41), interval(19, 20, 21), interval(29, 30, 31), interval(24, 25, 26)));
    EXPECT_EQ(result.against_stream, Comparison::Faster);
    EXPECT_EQ(result.against_graph, Comparison::Slower);
    EXPECT_FALSE(result.recommended);
    EXPECT_TRUE(result.sentence.starts_with("Not recommended"));
    EXPECT_NE(result.sentence.find("slower in a CUDA Graph"), std::string::npos);
}

TEST(Recommendation, ambiguous_both_ways_is_said_and_not_recommended) {
    const auto same = interval(9, 10, 11);
    const auto result = recommend(benchmark_of(same, same, same, same));
    EXPECT_FALSE(result.recommended);
    EXPECT_NE(result.sentence.find("AMBIGUOUS in a stream"), std::string::npos);
}

TEST(Benchmark, json_of_what_was_not_measured_holds_no_times) {
    Benchmark benchmark;
    benchmark.reason = "no CUDA driver";
    const std::string json = to_json(benchmark);
    EXPECT_NE(json.find("no CUDA driver"), std::string::npos);
    EXPECT_EQ(json.find("_ns"), std::string::npos);
}

} // namespace
} // namespace deepjit::verify
