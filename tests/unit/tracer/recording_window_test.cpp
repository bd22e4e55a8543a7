#include "tests/unit/tracer/traced_program.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace deepjit::tracer {
namespace {

using trace::WindowBound;

/// Frames of 5 kernels and one wait each; kernel records belong to calls that are in the trace.
class RecordingWindow : public Tracer {
  protected:
    ingest::ImportSummary record(std::vector<std::string> options, Environment variables) {
        options.insert(options.end(), {"--kernels", "5", "--status", "9"});
        EXPECT_EQ(launch(options, std::move(variables)).code, 9);
        const auto summary = import();
        const auto kernels = *trace().kernels();
        for (const trace::Kernel& kernel : kernels)
            EXPECT_NE(kernel.call_id, 0);
        return summary;
    }
    std::int64_t launches() {
        const auto calls = *trace().host_calls();
        return std::count_if(calls.begin(), calls.end(), [](const trace::HostCall& call) {
            return call.category == trace::CallCategory::Launch && !call.capturing;
        });
    }
    std::vector<trace::RecordingWindow> windows() { return *trace().recording_windows(); }
};

TEST_F(RecordingWindow, WithoutOptionsIsTheWholeRun) {
    EXPECT_EQ(record({"--frames", "4"}, {}).kernels_recorded, 20);
    const auto all = windows();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].start_bound, WindowBound::Process);
    EXPECT_EQ(all[0].end_bound, WindowBound::Process);
    EXPECT_EQ(all[0].end_ns, trace().processes()->at(0).end_ns);
}

TEST_F(RecordingWindow, OfAKilledProcessHasNoEnd) {
    launch({"--frames", "50", "--frame-pause-us", "5000", "--end", "kill"});
    import();
    const auto all = windows();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].end_ns, std::nullopt);
    EXPECT_EQ(all[0].end_bound, WindowBound::Unknown);
}

TEST_F(RecordingWindow, SkipsAndCountsFrames) {
    const auto summary =
        record({"--frames", "50"}, {{"DEEPJIT_TRACER_SKIP_FRAMES", "10"}, {"DEEPJIT_TRACER_FRAMES", "7"}});
    EXPECT_EQ(summary.kernels_recorded, 35);
    EXPECT_EQ(summary.launches_called, 35);
    EXPECT_EQ(launches(), 35);
    const auto all = windows();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].start_bound, WindowBound::Frames);
    EXPECT_EQ(all[0].end_bound, WindowBound::Frames);
    EXPECT_EQ(all[0].start_frames, 10);
    EXPECT_EQ(all[0].end_frames, 17);
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& kernel : kernels) {
        EXPECT_GE(kernel.start_ns, all[0].start_ns);
        EXPECT_LE(kernel.end_ns, *all[0].end_ns);
        EXPECT_TRUE(kernel.config_id != 0);
    }
}

TEST_F(RecordingWindow, WithoutSkippingBeginsWithTheProcess) {
    EXPECT_EQ(record({"--frames", "50"}, {{"DEEPJIT_TRACER_FRAMES", "3"}}).kernels_recorded, 15);
    ASSERT_EQ(windows().size(), 1U);
    EXPECT_EQ(windows()[0].start_bound, WindowBound::Process);
}

TEST_F(RecordingWindow, KeepsArgumentsOfAGraphThatWasCapturedBeforeIt) {
    const fs::path file = folder_ / "arguments.txt";
    const auto summary = record({"--frames", "30", "--graph", "--arguments-to", file.string()},
                                {{"DEEPJIT_TRACER_SKIP_FRAMES", "12"}, {"DEEPJIT_TRACER_FRAMES", "4"}});
    EXPECT_EQ(summary.kernels_recorded, 20);
    EXPECT_EQ(summary.launches_called, 4);
    const auto captured = lines_of(file);
    std::vector<std::string> expected;
    for (int frame = 0; frame < 4; ++frame)
        expected.insert(expected.end(), captured.begin(), captured.end());
    EXPECT_EQ(arguments_of_kernels(), expected);
}

TEST_F(RecordingWindow, KeepsAllocationsMadeBeforeIt) {
    record({"--frames", "30"}, {{"DEEPJIT_TRACER_SKIP_FRAMES", "12"}, {"DEEPJIT_TRACER_FRAMES", "4"}});
    EXPECT_EQ(trace().allocations()->size(), 6U);
}

TEST_F(RecordingWindow, DropsKernelRecordsWhereAnOlderCuptiCannotDisableThem) {
    // The fake one hangs when it is asked to.
    const auto summary = record({"--frames", "50"}, {{"FAKE_CUDA_CUPTI_VERSION", "130000"},
                                                     {"DEEPJIT_TRACER_SKIP_FRAMES", "10"},
                                                     {"DEEPJIT_TRACER_FRAMES", "7"}});
    EXPECT_EQ(summary.kernels_recorded, 35);
}

TEST_F(RecordingWindow, IsBetweenTheCallsOfTheProfilerApi) {
    const auto summary = record({"--frames", "40", "--profile-from", "11", "--profile-to", "31"},
                                {{"DEEPJIT_TRACER_PROFILER_API", "1"}});
    EXPECT_EQ(summary.kernels_recorded, 100);
    ASSERT_EQ(windows().size(), 1U);
    EXPECT_EQ(windows()[0].start_bound, WindowBound::ProfilerApi);
    EXPECT_EQ(windows()[0].end_bound, WindowBound::ProfilerApi);
}

TEST_F(RecordingWindow, CountsFramesFromTheCallOfTheProfilerApiOn) {
    const auto summary = record({"--frames", "40", "--profile-from", "11", "--profile-to", "31"},
                                {{"DEEPJIT_TRACER_PROFILER_API", "1"},
                                 {"DEEPJIT_TRACER_SKIP_FRAMES", "3"},
                                 {"DEEPJIT_TRACER_FRAMES", "5"}});
    EXPECT_EQ(summary.kernels_recorded, 25);
}

TEST_F(RecordingWindow, IsEachOpenRangeOfTheName) {
    const Environment nvtx = {{"NVTX_INJECTION64_PATH", TRACER_LIBRARY}, {"DEEPJIT_TRACER_RANGE", "step"}};
    EXPECT_EQ(record({"--frames", "20", "--range", "step"}, nvtx).kernels_recorded, 50);
    const auto all = windows();
    ASSERT_EQ(all.size(), 10U);
    for (const trace::RecordingWindow& window : all) {
        EXPECT_EQ(window.start_bound, WindowBound::Range);
        EXPECT_EQ(window.end_bound, WindowBound::Range);
    }
}

TEST_F(RecordingWindow, CountsOccurrencesOfARange) {
    const auto summary =
        record({"--frames", "20", "--range", "step"}, {{"NVTX_INJECTION64_PATH", TRACER_LIBRARY},
                                                       {"DEEPJIT_TRACER_RANGE", "step"},
                                                       {"DEEPJIT_TRACER_SKIP_FRAMES", "2"},
                                                       {"DEEPJIT_TRACER_FRAMES", "3"}});
    EXPECT_EQ(summary.kernels_recorded, 15);
    EXPECT_EQ(windows().size(), 3U);
}

TEST_F(RecordingWindow, OfARangeThatNeverOpensIsNone) {
    const auto summary =
        record({"--frames", "20", "--range", "step"},
               {{"NVTX_INJECTION64_PATH", TRACER_LIBRARY}, {"DEEPJIT_TRACER_RANGE", "other"}});
    EXPECT_EQ(summary.kernels_recorded, 0);
    EXPECT_EQ(launches(), 0);
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_TRUE(summary.processes[0].selects_part);
    EXPECT_EQ(summary.processes[0].windows, 0);
}

TEST_F(RecordingWindow, OpensAfterTheDelayAndClosesAfterTheDuration) {
    record({"--frames", "120", "--frame-pause-us", "5000"},
           {{"DEEPJIT_TRACER_DELAY_NS", "200000000"}, {"DEEPJIT_TRACER_DURATION_NS", "200000000"}});
    const auto all = windows();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].start_bound, WindowBound::Time);
    EXPECT_EQ(all[0].end_bound, WindowBound::Time);
    const std::int64_t start = all[0].start_ns - trace().processes()->at(0).start_ns;
    EXPECT_GE(start, 200'000'000);
    EXPECT_LE(start, 400'000'000); // a flush period later, on a machine that is busy
    EXPECT_GT(launches(), 0);
    EXPECT_LT(launches(), 500);
    const auto kernels = *trace().kernels();
    EXPECT_EQ(static_cast<std::int64_t>(kernels.size()), launches());
}

TEST_F(RecordingWindow, CountsTheFramesOfAllThreads) {
    const auto summary = record({"--frames", "50", "--threads", "3"},
                                {{"DEEPJIT_TRACER_SKIP_FRAMES", "10"}, {"DEEPJIT_TRACER_FRAMES", "20"}});
    EXPECT_EQ(summary.kernels_recorded, summary.launches_called);
    EXPECT_GT(summary.kernels_recorded, 20);
    EXPECT_LT(summary.kernels_recorded, 750);
}

} // namespace
} // namespace deepjit::tracer
