#include "analyzers/advise.hpp"
#include "tests/diff/rows.hpp"
#include "tests/diff/text_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace deepjit::tests {
namespace {

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Expected rows without comments and empty lines: comments say how a number was computed by hand.
std::string without_comments(const std::string& text) {
    std::istringstream stream(text);
    std::string kept;
    for (std::string line; std::getline(stream, line);)
        if (!line.empty() && line.front() != '#') kept += line + "\n";
    return kept;
}

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(DEEPJIT_SOURCE_DIR "/tests/diff/cases"))
        if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

class TextTrace : public testing::TestWithParam<std::string> {};

TEST_P(TextTrace, gives_the_expected_rows) {
    const std::filesystem::path folder = DEEPJIT_SOURCE_DIR "/tests/diff/cases";
    const model::TraceData trace = parse_text_trace(contents_of(folder / (GetParam() + ".trace")));
    EXPECT_EQ(rows_of(analyzers::advise(trace)),
              without_comments(contents_of(folder / (GetParam() + ".rows"))));
}

TEST_P(TextTrace, gives_parts_that_add_up) {
    const std::filesystem::path folder = DEEPJIT_SOURCE_DIR "/tests/diff/cases";
    const model::TraceData trace = parse_text_trace(contents_of(folder / (GetParam() + ".trace")));
    const model::Report report = analyzers::advise(trace);
    if (!report.frame) {
        EXPECT_TRUE(report.chains.empty());
        return;
    }
    const model::FrameSummary& frame = *report.frame;
    EXPECT_NEAR(frame.frame_ns.typical,
                frame.busy_ns.typical + frame.exposed_traced_ns.typical + frame.other_idle_ns.typical, 1e-6);
    double in_chains_ns = 0;
    for (const model::ChainAdvice& chain : report.chains) {
        in_chains_ns += chain.exposed_ns;
        if (static_cast<std::int64_t>(chain.chain.steps.size()) != frame.kernels_per_frame) continue;
        EXPECT_NEAR(chain.exposed_ns, frame.exposed_ns.typical, 1e-6);
        EXPECT_NEAR(chain.verdict.graph_saving_ns.typical, report.verdict.graph_saving_ns.typical, 1e-6);
    }
    EXPECT_LE(in_chains_ns, frame.exposed_ns.typical + 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Cases, TextTrace, testing::ValuesIn(case_names()),
                         [](const auto& instance) { return instance.param; });

TEST(TextTraceReader, mistakes_are_named_by_line) {
    EXPECT_THROW(parse_text_trace("kernel a at 0 for 1 sideways"), std::runtime_error);
    EXPECT_THROW(parse_text_trace("repeat 2 every 5 {\nkernel a at 0 for 1"), std::runtime_error);
}

} // namespace
} // namespace deepjit::tests
