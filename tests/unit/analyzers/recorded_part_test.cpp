#include "analyzers/recorded_part.hpp"

#include <gtest/gtest.h>

namespace deepjit::analyzers {
namespace {

using trace::RecordingWindow;
using trace::WindowBound;

std::string said_of(const std::vector<RecordingWindow>& windows) {
    model::TraceData trace;
    trace.windows = windows;
    const AdviseOptions options;
    const std::vector<model::ChainAdvice> no_chains;
    const auto findings = find_recorded_part({trace, options, nullptr, nullptr, nullptr, no_chains});
    return findings.empty() ? "" : findings.front().statement;
}

TEST(RecordedPart, a_whole_run_needs_no_word) {
    EXPECT_EQ(said_of({}), "");
    EXPECT_EQ(said_of({{0, 10, WindowBound::Process, WindowBound::Process, 0, 0, 7}}), "");
}

TEST(RecordedPart, a_window_is_told_by_what_bounds_it) {
    EXPECT_EQ(
        said_of({{1'000, 13'000, WindowBound::Frames, WindowBound::Frames, 10, 15, 7}}),
        "Only a part of the run was recorded: 12.0 µs, from the end of frame 10 to the end of frame 15.");
    EXPECT_EQ(
        said_of({{0, 5'000, WindowBound::Process, WindowBound::SizeLimit, 0, 0, 7}}),
        "Only a part of the run was recorded: 5.00 µs, from the start until the recording reached its size "
        "limit.");
    EXPECT_EQ(said_of({{0, std::nullopt, WindowBound::ProfilerApi, WindowBound::Unknown, 0, 0, 7}}),
              "Only a part of the run was recorded: from cudaProfilerStart until the recording broke off.");
}

TEST(RecordedPart, several_windows_are_counted) {
    EXPECT_EQ(said_of({{0, 2'000, WindowBound::Range, WindowBound::Range, 1, 1, 7},
                       {5'000, 6'000, WindowBound::Range, WindowBound::Range, 2, 2, 7}}),
              "Only parts of the run were recorded: 2 windows, the first from occurrence 1 of the NVTX "
              "range to its end.");
}

TEST(RecordedPart, a_recording_without_an_end_lacks_its_last_moments) {
    const RecordingWindow open{0, std::nullopt, WindowBound::Process, WindowBound::Unknown, 0, 0, 7};
    EXPECT_EQ(said_of({open}),
              "The recording of a process has no end (killed, left by _exit or exec, or still "
              "running): what was running then, and up to 0.2 s before, is missing.");
    EXPECT_NE(said_of({open, open}).find("of 2 processes"), std::string::npos);
}

} // namespace
} // namespace deepjit::analyzers
