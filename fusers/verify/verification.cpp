#include "fusers/verify/verification.hpp"

#include "src/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace deepjit::verify {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVerificationSchemaVersion = 1;

/// JSON has no infinities or NaN; they are spelled as text.
Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json side(const OutputError& error) {
    Json json = {
        {"error", number(error.error)}, {"elements", error.elements}, {"mismatches", error.mismatches}};
    if (error.mismatches > 0) {
        json["first_mismatch"] = {{"element", error.first_mismatch},
                                  {"got", number(error.first_mismatch_got)},
                                  {"expected", number(error.first_mismatch_expected)}};
    }
    return json;
}

} // namespace

std::string_view name_of(VerificationStatus status) {
    switch (status) {
    case VerificationStatus::NotRun:
        return "not run";
    case VerificationStatus::Passed:
        return "passed";
    case VerificationStatus::Failed:
        break;
    }
    return "failed";
}

bool Verification::bit_identical() const {
    return status != VerificationStatus::NotRun && !outputs.empty() &&
           std::all_of(outputs.begin(), outputs.end(),
                       [](const OutputVerdict& output) { return output.different_bits == 0; });
}

Verification not_run(std::string reason) {
    Verification verification;
    verification.reason = std::move(reason);
    return verification;
}

std::string to_json(const Verification& verification) {
    Json json = {{"schema_version", kVerificationSchemaVersion},
                 {"status", name_of(verification.status)},
                 {"reason", printable(verification.reason)}};
    if (!verification.chain_hash.empty()) json["chain_hash"] = verification.chain_hash;
    if (!verification.source_hash.empty()) json["source_hash"] = verification.source_hash;
    if (verification.status != VerificationStatus::NotRun) {
        json["device"] = printable(verification.device_name);
        json["original_side"] = verification.original_side;
        json["rounding"] = verification.rounding == graph::Rounding::Match ? "match" : "wide";
        json["error_measure"] =
            "largest |got - float64| / max(|float64|, rms(float64)) over the elements finite in both";
        json["cases"] = verification.cases;
        json["guard_bytes_changed"] = verification.guard_bytes_changed;
        json["inputs_unchanged"] = verification.inputs_unchanged;
        json["bit_identical_to_original_side"] = verification.bit_identical();
        json["outputs"] = Json::array();
        for (const OutputVerdict& output : verification.outputs) {
            json["outputs"].push_back({{"name", output.name},
                                       {"dtype", graph::name_of(output.dtype)},
                                       {"passed", output.gate.passed},
                                       {"reason", printable(output.gate.reason)},
                                       {"margin", margin_for(output.dtype)},
                                       {"fused", side(output.fused)},
                                       {"original", side(output.original)},
                                       {"different_bits", output.different_bits}});
        }
    }
    return json.dump(2) + "\n";
}

} // namespace deepjit::verify
