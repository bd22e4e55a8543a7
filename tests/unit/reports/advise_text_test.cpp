#include "reports/advise_text.hpp"

#include "src/base/text.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace deepjit::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

model::Report crowded_report() {
    model::Report report;
    report.kernel_count = 1'000'000;
    report.frame = model::FrameSummary{};
    report.frame->frames = 1000;
    report.frame->kernels_per_frame = 400;
    report.verdict.advice = model::Advice::Fuse;
    report.verdict.deciding_term = "fusing 40 chains saves 600 \u00b5s of 2.00 ms a frame";
    report.verdict.fuse_saving_ns = {400e3, 600e3, 700e3};
    report.verdict.graph_saving_ns = {300e3, 500e3, 600e3};
    report.verdict.graph_blocker =
        "cuStreamSynchronize after launch 200 (the longest stretch without such holds 200 launches)";
    report.verdict.break_even_frames = 3333;
    for (int i = 0; i < 9; ++i)
        report.findings.push_back(
            {"incomplete-trace",
             model::Finding::Role::Trust,
             model::Finding::Outcome::Holds,
             "Something about the trace is not as it should be and this says at length what.",
             "",
             {}});
    for (const char* rule : {"short-kernels", "exposed-gaps", "inflated-traffic"})
        report.findings.push_back(
            {rule, model::Finding::Role::ThreePart, model::Finding::Outcome::Abstains, "Not known.", "", {}});
    for (int i = 0; i < 9; ++i)
        report.gaps.push_back({model::GapCause::Blocked, std::string(200, 'x'), false, 5e3, 1});
    for (int i = 1; i <= 40; ++i) {
        model::ChainAdvice chain;
        chain.chain.number = i;
        chain.verdict.advice = model::Advice::Fuse;
        chain.verdict.fuse_saving_ns = {1e3, 2e3, 3e3};
        chain.chain.steps = {{1, std::string(8192, 'k') + "\x1b[31m(int)", model::Dependence::None, {}, 1e3},
                             {2, "void ns::relu<float>(float*)", model::Dependence::Proved, {}, 1e3}};
        report.chains.push_back(chain);
    }
    return report;
}

TEST(AdviseText, the_most_crowded_report_fits_25_lines_of_80_columns) {
    const std::vector<std::string> lines = lines_of(advise_text(crowded_report(), "trace.db"));
    EXPECT_LE(lines.size(), 25U);
    for (const std::string& line : lines)
        EXPECT_LE(display_width(line), 80U) << line;
}

TEST(AdviseText, facts_wrap_and_only_names_are_shortened) {
    model::Report report = crowded_report();
    report.frame->frame_ns = report.frame->busy_ns = report.frame->exposed_traced_ns =
        report.frame->other_idle_ns = {0, 123456, 0};
    report.frame->launches_per_frame = 400;
    report.frame->in_graph = true;
    report.frame->corrected = true;
    for (const std::size_t width : {40U, 60U, 80U, 100U}) {
        const std::string text = advise_text(report, "trace.db", width);
        for (const std::string& line : lines_of(text)) {
            if (line.find("Next: ") == 0) continue; // whole at any width, to be copied
            EXPECT_LE(display_width(line), width) << line;
            const bool holds_a_name =
                line.find("xxxx") != std::string::npos || line.find("kkkk") != std::string::npos;
            EXPECT_TRUE(holds_a_name || line.find("\u2026") == std::string::npos) << line;
        }
        for (const char* fact : {"K = 400", "T = 123 \u00b5s", "K\u00b7L = 123 \u00b5s", "c = 123 \u00b5s"})
            EXPECT_THAT(text, HasSubstr(fact));
        EXPECT_THAT(text, HasSubstr("Next: deepjit fuse trace.db --chain 1 --emit out"));
    }
}

TEST(AdviseText, without_launch_calls_no_launch_time_is_printed) {
    model::Report report = crowded_report();
    report.frame->busy_ns = {0, 20e3, 0};
    report.frame->other_idle_ns = {0, 30e3, 0};
    report.frame->calls_recorded = false;
    const std::string text = advise_text(report, "trace.db");
    EXPECT_THAT(text, HasSubstr("T = 20.0 \u00b5s busy, 30.0 \u00b5s idle (measured); K\u00b7L unknown"));
    EXPECT_THAT(text, testing::Not(HasSubstr("L = 0")));
}

TEST(AdviseText, fuse_stands_beside_what_a_graph_would_leave) {
    model::Report report = crowded_report();
    report.verdict.graph_blocker.clear();
    report.verdict.ways = {2000e3, 1500e3, 1400e3, 1250e3};
    report.verdict.fuse_saving_after_graph_ns = {100e3, 250e3, 300e3};
    report.frame->corrected = true;
    std::string text = advise_text(report, "trace.db", 200);
    EXPECT_THAT(text,
                HasSubstr("2.00 ms untraced, 1.50 ms in a CUDA Graph, 1.40 ms fused, 1.25 ms fused then"));
    EXPECT_THAT(text, HasSubstr("after a CUDA Graph still 250 \u00b5s (100 \u00b5s to 300 \u00b5s)"));
    report.verdict.fuse_saving_after_graph_ns = {-3e3, -2e3, -1e3};
    text = advise_text(report, "trace.db", 200);
    EXPECT_THAT(text, HasSubstr("after a CUDA Graph nothing more"));
}

TEST(AdviseText, counts_of_one_are_singular_and_rare_gaps_are_not_zero) {
    model::Report report = crowded_report();
    report.frame->kernels_per_frame = report.frame->launches_per_frame = report.frame->frames = 1;
    report.findings.clear();
    report.gaps = {{model::GapCause::HostLate, "", false, 5e3, 3},
                   {model::GapCause::HostLate, "", true, 5e3, 1},
                   {model::GapCause::DeviceLatency, "", false, 175, 0.03}};
    const std::string text = advise_text(report, "trace.db");
    EXPECT_THAT(text, HasSubstr("(measured, 1 frame), K = 1 kernel from 1 launch\n"));
    EXPECT_THAT(text, HasSubstr("(3 gaps)"));
    EXPECT_THAT(text, HasSubstr("(1 gap)"));
    EXPECT_THAT(text, HasSubstr("(fewer than 0.1 gaps)"));
}

TEST(AdviseText, pointers_that_are_not_const_are_said_to_understate_the_traffic) {
    model::Report report = crowded_report();
    EXPECT_THAT(advise_text(report, "trace.db"), Not(HasSubstr("not const")));
    report.chains[0].chain.steps[0].buffers.push_back(
        {0x1000, 16, 1, 0, model::Access::ReadWrite, "not const in the signature"});
    EXPECT_THAT(advise_text(report, "trace.db"), HasSubstr("A pointer that is not const counts as read and"));
}

TEST(AdviseText, it_begins_with_the_verdict_and_ends_with_the_next_command) {
    const std::string text = advise_text(crowded_report(), "trace.db");
    EXPECT_EQ(text.rfind("Verdict: fuse: fusing 40 chains", 0), 0U);
    EXPECT_EQ(lines_of(text).back(), "Next: deepjit fuse trace.db --chain 1 --emit out");
    EXPECT_THAT(text, HasSubstr("more (--format json holds all)"));
}

TEST(AdviseText, control_characters_in_names_do_not_reach_the_terminal) {
    EXPECT_THAT(advise_text(crowded_report(), "trace.db"), Not(HasSubstr("\x1b")));
}

TEST(AdviseText, a_trace_with_no_kernel_says_which_of_the_outcomes_it_is) {
    using Cause = model::NoKernels::Cause;
    model::Report report;
    const auto text_for = [&](Cause cause, const char* error) {
        report.no_kernels = model::NoKernels{cause, 24, 0, 0, error};
        return advise_text(report, "trace.db", 200);
    };
    EXPECT_THAT(text_for(Cause::DriverNotInitialised, ""), HasSubstr("never initialised CUDA"));
    EXPECT_THAT(text_for(Cause::NothingLaunched, ""), HasSubstr("initialised CUDA but launched none"));
    EXPECT_THAT(text_for(Cause::RecordsMissing, "CUPTI said no."),
                HasSubstr("launched kernels (24 launch calls), but no record of them arrived"));
    EXPECT_THAT(text_for(Cause::RecordsMissing, "CUPTI said no."), HasSubstr("Cause: CUPTI said no.\n"));
    EXPECT_THAT(text_for(Cause::NotWatched, "CUPTI said no."), HasSubstr("could not watch it"));
    EXPECT_THAT(text_for(Cause::CutOff, ""), HasSubstr("ended before its recording"));
}

TEST(AdviseText, no_next_command_is_given_where_nothing_is_worth_fusing) {
    model::Report report = crowded_report();
    for (model::ChainAdvice& chain : report.chains)
        chain.verdict.advice = model::Advice::LeaveAlone;
    EXPECT_THAT(advise_text(report, "trace.db"), Not(HasSubstr("deepjit fuse")));
}

} // namespace
} // namespace deepjit::reports
