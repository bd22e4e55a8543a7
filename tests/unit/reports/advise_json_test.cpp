#include "reports/advise_json.hpp"

#include "tests/unit/reports/schema_check.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace deepjit::reports {
namespace {

using Json = nlohmann::json;

std::string check(const std::string& text) {
    return wrong_by_schema("advise.schema.json", text);
}

model::Report report_with_everything() {
    model::Report report;
    report.source = "deepjit profile";
    report.device_name = "Test GPU";
    report.kernel_count = 10;
    report.frame = model::FrameSummary{};
    report.verdict.advice = model::Advice::FuseThenGraph;
    report.verdict.break_even_frames = 12.5;
    report.verdict.ways = {40e3, 20e3, 18e3, 17e3};
    report.findings.push_back({"short-kernels",
                               model::Finding::Role::ThreePart,
                               model::Finding::Outcome::Holds,
                               "All are short.",
                               "",
                               {{"short_launch_share", 1, 0.5}}});
    report.gaps.push_back({model::GapCause::Blocked, "cuStreamSynchronize", true, 5e3, 1});
    model::ChainAdvice chain;
    chain.chain.number = 1;
    chain.chain.steps.push_back(
        {7,
         "relu",
         model::Dependence::Proved,
         {{0xdeadbeef00000001, 16, 1, 0, model::Access::Write, "ATen argument order"}},
         2e3});
    chain.chain.written.push_back({0xdeadbeef00000001, 16, 0, false, "overwritten unread in 4 frames"});
    chain.traffic = model::LogicalTraffic{32, 16};
    report.chains.push_back(chain);
    report.parameters.push_back({"graph_node_ns", 600, model::Origin::Calibrated});
    return report;
}

TEST(AdviseJson, every_key_is_in_the_schema_and_every_required_key_is_there) {
    EXPECT_EQ(check(advise_json(report_with_everything())), "");
    EXPECT_EQ(check(advise_json(model::Report{})), "");
    model::Report none;
    none.no_kernels = model::NoKernels{model::NoKernels::Cause::RecordsMissing, 24, 0, 0, "CUPTI said no"};
    EXPECT_EQ(check(advise_json(none)), "");
    EXPECT_EQ(Json::parse(advise_json(none))["no_kernels"]["cause"], "records_missing");
}

TEST(AdviseJson, the_check_itself_sees_missing_unknown_and_wrong_values) {
    Json json = Json::parse(advise_json(report_with_everything()));
    Json without = json;
    without.erase("verdict");
    EXPECT_NE(check(without.dump()), "");
    Json unknown = json;
    unknown["frame"]["surprise"] = 1;
    EXPECT_NE(check(unknown.dump()), "");
    Json wrong = json;
    wrong["gaps"][0]["cause"] = "weather";
    EXPECT_NE(check(wrong.dump()), "");
}

TEST(AdviseJson, names_of_any_bytes_give_valid_json) {
    model::Report report = report_with_everything();
    report.chains[0].chain.steps[0].name = "bad\xff\"name\"\n</script>\x01";
    report.verdict.deciding_term = "\xc0\xaf";
    const Json json = Json::parse(advise_json(report));
    EXPECT_EQ(json["chains"][0]["steps"][0]["name"], "bad\\xff\"name\"\\x0a</script>\\x01");
}

TEST(AdviseJson, addresses_above_53_bits_survive) {
    const Json json = Json::parse(advise_json(report_with_everything()));
    EXPECT_EQ(json["chains"][0]["written"][0]["address"], "0xdeadbeef00000001");
    EXPECT_EQ(json["chains"][0]["traffic"]["inflation"], 2.0);
}

} // namespace
} // namespace deepjit::reports
