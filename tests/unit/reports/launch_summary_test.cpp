#include "reports/launch_summary.hpp"

#include "src/base/text.hpp"

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

TEST(LaunchSummary, json_has_the_documented_keys) {
    const auto json = nlohmann::json::parse(launch_summary_json(seed_summary()));
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_NEAR(json["l_ns"].get<double>(), 317857.1, 0.1);
    EXPECT_NEAR(json["t_ns"].get<double>(), 3082142.9, 0.1);
    EXPECT_NEAR(json["launch_share"].get<double>(), 0.7494, 1e-4);
    EXPECT_EQ(json["leave_alone"], false);
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
