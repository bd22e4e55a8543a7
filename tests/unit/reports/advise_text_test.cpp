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

TEST(AdviseText, it_begins_with_the_verdict_and_ends_with_the_next_command) {
    const std::string text = advise_text(crowded_report(), "trace.db");
    EXPECT_EQ(text.rfind("Verdict: fuse: fusing 40 chains", 0), 0U);
    EXPECT_EQ(lines_of(text).back(), "Next: deepjit fuse trace.db --chain 1 --emit out");
    EXPECT_THAT(text, HasSubstr("more (--format json holds all)"));
}

TEST(AdviseText, control_characters_in_names_do_not_reach_the_terminal) {
    EXPECT_THAT(advise_text(crowded_report(), "trace.db"), Not(HasSubstr("\x1b")));
}

TEST(AdviseText, a_trace_with_no_kernel_gets_one_sentence) {
    EXPECT_EQ(lines_of(advise_text(model::Report{}, "trace.db")).size(), 1U);
}

TEST(AdviseText, no_next_command_is_given_where_nothing_is_worth_fusing) {
    model::Report report = crowded_report();
    for (model::ChainAdvice& chain : report.chains)
        chain.verdict.advice = model::Advice::LeaveAlone;
    EXPECT_THAT(advise_text(report, "trace.db"), Not(HasSubstr("deepjit fuse")));
}

} // namespace
} // namespace deepjit::reports
