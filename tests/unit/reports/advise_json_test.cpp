#include "reports/advise_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>

namespace deepjit::reports {
namespace {

using Json = nlohmann::json;

/// The part of JSON Schema that advise.schema.json uses. Returns what is wrong, with its place.
class SchemaCheck {
  public:
    explicit SchemaCheck(const Json& root) : root_(root) {}

    std::string check(const Json& value, const Json& schema, const std::string& place) const {
        if (schema.contains("$ref")) {
            const std::string reference = schema["$ref"];
            return check(value, root_.at(Json::json_pointer(reference.substr(1))), place);
        }
        if (schema.contains("anyOf")) {
            std::string first;
            for (const Json& option : schema["anyOf"]) {
                const std::string wrong = check(value, option, place);
                if (wrong.empty()) return {};
                if (first.empty()) first = wrong;
            }
            return first;
        }
        if (schema.contains("const")) return value == schema["const"] ? "" : place + ": not the constant";
        if (schema.contains("enum")) {
            for (const Json& option : schema["enum"])
                if (value == option) return {};
            return place + ": " + value.dump() + " is not in the enumeration";
        }
        if (schema.contains("type") && !has_type(value, schema["type"])) return place + ": wrong type";
        if (value.is_object()) return check_object(value, schema, place);
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
            const std::string wrong = check(value[i], schema["items"], place + "/" + std::to_string(i));
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

  private:
    std::string check_object(const Json& value, const Json& schema, const std::string& place) const {
        for (const Json& key : schema["required"])
            if (!value.contains(key.get<std::string>())) return place + ": " + key.dump() + " is missing";
        for (const auto& [key, member] : value.items()) {
            if (!schema["properties"].contains(key)) return place + ": '" + key + "' is not documented";
            const std::string wrong = check(member, schema["properties"][key], place + "/" + key);
            if (!wrong.empty()) return wrong;
        }
        return {};
    }

    static bool has_type(const Json& value, const Json& type) {
        if (type.is_array())
            return std::any_of(type.begin(), type.end(),
                               [&](const Json& one) { return has_type(value, one); });
        if (type == "number") return value.is_number();
        if (type == "integer") return value.is_number_integer();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "array") return value.is_array();
        if (type == "object") return value.is_object();
        return type == "null" && value.is_null();
    }

    const Json& root_;
};

/// What is wrong with the report's JSON; empty: nothing.
std::string check(const std::string& text) {
    std::ifstream file(DEEPJIT_SOURCE_DIR "/reports/schema/advise.schema.json");
    const Json schema = Json::parse(file);
    return SchemaCheck(schema).check(Json::parse(text), schema, "");
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
    none.no_kernels = model::NoKernels{model::NoKernels::Cause::RecordsMissing, 24, "CUPTI said no"};
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
