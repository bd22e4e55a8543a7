#include "reports/launch_summary.hpp"

#include "src/base/text.hpp"
#include "tests/unit/reports/schema_check.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace deepjit::reports {
namespace {

using testing::HasSubstr;

model::LaunchSummary seed_summary() {
    model::LaunchQuestion question;
    question.serial_ns = 12.3e6;
    question.fused_ns = 3.4e6;
    question.calls = 29;
    return *model::summarise_launches(question);
}

TEST(LaunchSummary, text_gives_l_t_share_the_rest_the_assumption_and_the_upper_bound) {
    const std::string text = launch_summary_text(seed_summary());
    for (const char* part : {"L = 318 \u00b5s", "T = 3.08 ms", "75 % of the serial time", "leaves 9.3 %",
                             "Assumed: fusing leaves T as it is", "L is an upper bound"})
        EXPECT_THAT(text, HasSubstr(part));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), 80U) << line;
}

TEST(LaunchSummary, work_counted_as_zero_agrees_with_the_fused_time_within_the_noise) {
    model::LaunchQuestion question;
    question.serial_ns = 12.3e6;
    question.fused_ns = 0.1e6;
    question.calls = 29;
    question.noise_ns = 1e6;
    const std::string text = launch_summary_text(*model::summarise_launches(question), 120);
    EXPECT_THAT(text,
                HasSubstr("fused is L = 424 \u00b5s: 100 \u00b5s was measured, which the noise of 1.00 ms"));
    EXPECT_THAT(text, testing::Not(HasSubstr("100 % of 100")));
}

TEST(LaunchSummary, a_slower_graph_is_called_slower) {
    model::LaunchQuestion question;
    question.serial_ns = 10e6;
    question.graph_ns = 11e6;
    question.frame_ns = 20e6;
    question.calls = 29;
    const std::string text = launch_summary_text(*model::summarise_launches(question), 120);
    EXPECT_THAT(text, HasSubstr("graph: 1.00 ms slower, 10 % of the serial time"));
    EXPECT_THAT(text, HasSubstr("costs 34.5 \u00b5s less than a graph node"));
    EXPECT_THAT(text, HasSubstr("frame, in a graph: 20.0 ms to 21.0 ms, 5.0 % slower"));
    EXPECT_THAT(text, testing::Not(HasSubstr("-")));
}

TEST(LaunchSummary, json_has_the_documented_keys) {
    const auto json = nlohmann::json::parse(launch_summary_json(seed_summary()));
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_NEAR(json["l_ns"].get<double>(), 317857.1, 0.1);
    EXPECT_NEAR(json["t_ns"].get<double>(), 3082142.9, 0.1);
    EXPECT_NEAR(json["launch_share"].get<double>(), 0.7494, 1e-4);
    EXPECT_EQ(json["leave_alone"], false);
}

/// Every part of the summary.
model::LaunchQuestion everything() {
    model::LaunchQuestion question;
    question.serial_ns = 12.3e6;
    question.fused_ns = 3.4e6;
    question.graph_ns = 5e6;
    question.launch_cost_ns = 300e3;
    question.frame_ns = 20e6;
    question.calls = 29;
    question.points = {{8, 51.9e3},   {16, 119.3e3}, {24, 159.1e3},
                       {36, 233.5e3}, {64, 411.7e3}, {117, 735.4e3}};
    return question;
}

TEST(LaunchSummary, json_agrees_with_its_schema) {
    const std::string text = launch_summary_json(*model::summarise_launches(everything()));
    EXPECT_EQ(wrong_by_schema("model.schema.json", text), "");
    auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["fit"]["outliers"].size(), 1U);
    json["surprise"] = 1;
    EXPECT_NE(wrong_by_schema("model.schema.json", json.dump()), "");
    json.erase("surprise");
    json.erase("leave_alone");
    EXPECT_NE(wrong_by_schema("model.schema.json", json.dump()), "");
    model::LaunchQuestion points_only;
    points_only.points = {{8, 51.9e3}, {24, 159.1e3}};
    EXPECT_EQ(
        wrong_by_schema("model.schema.json", launch_summary_json(*model::summarise_launches(points_only))),
        "");
}

TEST(LaunchSummary, text_wraps_between_facts_at_any_width) {
    const auto summary = *model::summarise_launches(everything());
    for (const std::size_t width : {40U, 60U, 80U}) {
        const std::string text = launch_summary_text(summary, width);
        EXPECT_EQ(text.find("\u2026"), std::string::npos);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(display_width(line), width) << line;
    }
}

TEST(LaunchSummary, json_has_null_where_nothing_was_judged) {
    model::LaunchQuestion question;
    question.points = {{8, 51.9e3}, {24, 159.1e3}, {36, 233.5e3}};
    const auto json = nlohmann::json::parse(launch_summary_json(*model::summarise_launches(question)));
    EXPECT_TRUE(json["leave_alone"].is_null());
    EXPECT_TRUE(json["fit"]["outliers"].is_null());
}

TEST(LaunchSummary, launches_never_come_to_more_than_the_total) {
    model::LaunchQuestion question;
    question.serial_ns = 10.24e6;
    question.fused_ns = 0.34e6;
    question.calls = 29;
    question.noise_ns = 0.02e6;
    const std::string text = launch_summary_text(*model::summarise_launches(question));
    EXPECT_THAT(text, HasSubstr("K\u00b7L = 10.2 ms  100 % of the serial time 10.2 ms"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), 80U) << line;
}

} // namespace
} // namespace deepjit::reports
