#include "analyzers/frame_summary.hpp"

#include "analyzers/tracer_cost.hpp"

#include <gmock/gmock.h>

namespace deepjit::analyzers {
namespace {

using testing::HasSubstr;

/// Two frames, each one launch of a graph of three kernels.
struct GraphFrames {
    explicit GraphFrames(const model::Calibration& calibration) {
        trace.calibration = calibration;
        for (std::uint32_t i = 0; i < 6; ++i) {
            trace::Kernel kernel;
            kernel.graph_id = 4;
            kernel.correlation_id = i / 3 + 1;
            kernel.start_ns = 100'000 * (i / 3) + 3'000 * (i % 3);
            kernel.end_ns = kernel.start_ns + 2'000;
            trace.kernels.push_back(kernel);
        }
        for (std::size_t i = 0; i < 2; ++i) {
            Frame frame;
            frame.kernels = {3 * i, 3 * i + 1, 3 * i + 2};
            frame.span = {trace.kernels[3 * i].start_ns, trace.kernels[3 * i + 2].end_ns};
            if (i == 0) frame.next_start_ns = 100'000;
            frames.frames.push_back(frame);
        }
        exposure.traced_ns = exposure.corrected_ns = {0, 0, 0};
        exposure.frame_traced_ns = exposure.frame_corrected_ns = {0, 0};
    }
    model::FrameSummary summary() const {
        return summarise_frames(trace, frames, exposure, BusyTime(trace, 0));
    }

    model::TraceData trace;
    TrackFrames frames;
    LaunchExposure exposure;
};

TEST(FrameSummary, what_tracing_adds_to_graph_launches_counts_each_launch_and_each_node) {
    model::Calibration calibration;
    calibration.tracer_graph_ns = 5'000;
    calibration.tracer_graph_node_ns = 1'000;
    const GraphFrames graph(calibration);
    const model::FrameSummary summary = graph.summary();
    EXPECT_TRUE(summary.in_graph);
    EXPECT_EQ(summary.launches_per_frame, 1);
    EXPECT_DOUBLE_EQ(summary.tracer_graph_ns, 8'000);
    EXPECT_TRUE(summary.corrected);
    const std::vector<model::ChainAdvice> no_chains;
    const auto findings = find_tracer_cost({graph.trace, {}, &graph.frames, nullptr, &summary, no_chains});
    EXPECT_THAT(findings.front().statement, HasSubstr("5.00 µs a graph launch and 1.00 µs a node"));
}

TEST(FrameSummary, the_cost_of_a_launch_in_a_stream_does_not_correct_a_graph) {
    model::Calibration calibration;
    calibration.tracer_launch_ns = 900;
    const GraphFrames graph(calibration);
    const model::FrameSummary summary = graph.summary();
    EXPECT_DOUBLE_EQ(summary.tracer_graph_ns, 0);
    EXPECT_FALSE(summary.corrected);
    const std::vector<model::ChainAdvice> no_chains;
    const auto findings = find_tracer_cost({graph.trace, {}, &graph.frames, nullptr, &summary, no_chains});
    EXPECT_EQ(findings.front().outcome, model::Finding::Outcome::Abstains);
}

} // namespace
} // namespace deepjit::analyzers
