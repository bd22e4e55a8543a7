#include "fusers/verify/benchmark.hpp"

#include "src/base/text.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cassert>

namespace deepjit::verify {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kBenchmarkSchemaVersion = 1;

Json to_json_value(const Estimate& estimate) {
    return {{"median_ns", estimate.median_ns},
            {"low_ns", estimate.low_ns},
            {"high_ns", estimate.high_ns},
            {"samples", estimate.sample_count},
            {"interval_is_95_percent", estimate.covers_95_percent}};
}

Json to_json_value(const Recommendation& recommendation) {
    return {{"fused_stream_against_original_stream", name_of(recommendation.against_stream)},
            {"fused_graph_against_original_graph", name_of(recommendation.against_graph)},
            {"recommended", recommendation.recommended},
            {"sentence", recommendation.sentence}};
}

std::string ratio_text(const Estimate& original, const Estimate& fused) {
    return fmt::format("{:.2f}x ({} to {})", original.median_ns / fused.median_ns,
                       format_duration(original.median_ns), format_duration(fused.median_ns));
}

std::string describe(Comparison comparison, const Estimate& original, const Estimate& fused,
                     std::string_view where) {
    if (comparison == Comparison::Ambiguous)
        return fmt::format("AMBIGUOUS {} (the intervals of {} and {} overlap)", where,
                           format_duration(original.median_ns), format_duration(fused.median_ns));
    return fmt::format("{} {} by {}", name_of(comparison), where, ratio_text(original, fused));
}

} // namespace

std::string_view name_of(L2State state) {
    return state == L2State::Cold ? "cold" : "hot";
}

Recommendation recommend(const Benchmark& benchmark) {
    assert(benchmark.measured && !benchmark.states.empty());
    const FourWay& cold = benchmark.states.front();
    Recommendation result;
    result.against_stream = compare(cold.fused_stream, cold.original_stream);
    result.against_graph = compare(cold.fused_graph, cold.original_graph);
    const bool any_slower =
        result.against_stream == Comparison::Slower || result.against_graph == Comparison::Slower;
    const bool any_faster =
        result.against_stream == Comparison::Faster || result.against_graph == Comparison::Faster;
    result.recommended = any_faster && !any_slower;
    result.sentence = fmt::format(
        "{}: the fused kernel is {} and {}.", result.recommended ? "Recommended" : "Not recommended",
        describe(result.against_stream, cold.original_stream, cold.fused_stream, "in a stream"),
        describe(result.against_graph, cold.original_graph, cold.fused_graph, "in a CUDA Graph"));
    return result;
}

std::string to_json(const Benchmark& benchmark) {
    Json json = {{"schema_version", kBenchmarkSchemaVersion}, {"measured", benchmark.measured}};
    if (!benchmark.measured) {
        json["reason"] = printable(benchmark.reason);
        return json.dump(2) + "\n";
    }
    json["device"] = printable(benchmark.device_name);
    json["original_side"] = benchmark.original_side;
    json["original_launches"] = benchmark.original_launches;
    json["fused_launches"] = benchmark.fused_launches;
    json["calls_per_sample"] = benchmark.calls_per_sample;
    json["buffer_sets"] = benchmark.buffer_sets;
    json["bytes_per_call"] = benchmark.bytes_per_call;
    json["method"] =
        "GPU time of one call between two events, the four ways interleaved in one run; median with "
        "the 95 % order-statistic interval";
    json["l2_states"] = Json::array();
    for (const FourWay& state : benchmark.states) {
        json["l2_states"].push_back({{"l2", name_of(state.l2)},
                                     {"original_stream", to_json_value(state.original_stream)},
                                     {"original_graph", to_json_value(state.original_graph)},
                                     {"fused_stream", to_json_value(state.fused_stream)},
                                     {"fused_graph", to_json_value(state.fused_graph)}});
    }
    json["recommendation"] = to_json_value(recommend(benchmark));
    return json.dump(2) + "\n";
}

} // namespace deepjit::verify
