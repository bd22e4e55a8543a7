#include "cli/fuse_result.hpp"

#include "src/base/text.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace deepjit::cli {

namespace {

using verify::Estimate;

constexpr int kSchemaVersion = 1;

std::vector<std::string> architecture_names(const emit::Emission& emission) {
    std::vector<std::string> names;
    for (const emit::DeviceImage& image : emission.images)
        names.push_back(fmt::format("sm_{}", image.compute_capability));
    if (emission.ptx_capability != 0) names.push_back(fmt::format("compute_{}", emission.ptx_capability));
    return names;
}

std::string verdict_lines(const verify::Verification& verification) {
    if (verification.status == verify::VerificationStatus::NotRun)
        return fmt::format("verdict   not verified on a GPU: {}\n", printable(verification.reason));
    std::string text = fmt::format("verdict   {} on {}: {}\n", name_of(verification.status),
                                   printable(verification.device_name), printable(verification.reason));
    for (const verify::OutputVerdict& output : verification.outputs) {
        const double epsilon = verify::margin_for(output.dtype);
        if (epsilon > 0)
            text += fmt::format(
                "error     {}: fused {:.3g} ({:.2f} eps), original {:.3g} ({:.2f} eps), margin 1 eps\n",
                output.name, output.fused.error, output.fused.error / epsilon, output.original.error,
                output.original.error / epsilon);
        text += fmt::format("bits      {}: {}\n", output.name,
                            output.different_bits == 0
                                ? "equal to the originals' in every element"
                                : fmt::format("{} of {} elements differ from the originals'",
                                              format_count(output.different_bits),
                                              format_count(output.fused.elements)));
    }
    return text + fmt::format("original  {}\n", verification.original_side);
}

std::string time_line(std::string_view way, const Estimate& cold, const Estimate& hot) {
    const auto cell = [](const Estimate& estimate) {
        return fmt::format("{} ({} to {})", format_duration(estimate.median_ns),
                           format_duration(estimate.low_ns), format_duration(estimate.high_ns));
    };
    return fmt::format("  {:<16} {:<29} {}\n", way, cell(cold), cell(hot));
}

std::string time_lines(const verify::Benchmark& benchmark) {
    if (!benchmark.measured) return fmt::format("times     not measured: {}\n", printable(benchmark.reason));
    const verify::FourWay& cold = benchmark.states.front();
    const verify::FourWay& hot = benchmark.states.back();
    std::string text = "times     measured GPU time of one call, median and 95 % interval\n";
    text += fmt::format("  {:<16} {:<29} {}\n", "", "cold L2", "hot L2");
    text += time_line("original stream", cold.original_stream, hot.original_stream);
    text += time_line("original graph", cold.original_graph, hot.original_graph);
    text += time_line("fused stream", cold.fused_stream, hot.fused_stream);
    text += time_line("fused graph", cold.fused_graph, hot.fused_graph);
    return text + verify::recommend(benchmark).sentence + "\n";
}

} // namespace

std::string fuse_text(const FuseResult& result) {
    std::string text =
        fmt::format("{}: {} kernels into 1, {} elements\n", result.emission.name, result.original_kernels,
                    format_count(result.emission.kernel.element_count));
    text += verdict_lines(result.emission.verification);
    text += time_lines(result.emission.benchmark);
    text += fmt::format("variants  {} tried, {} rejected; chosen: {}\n", result.variants_tried,
                        result.variants_rejected, result.configuration);
    text += fmt::format("compiled  {}\n", join_words(architecture_names(result.emission)));
    text += fmt::format("written   {}\n", printable(result.folder.string()));
    return text;
}

std::string fuse_json(const FuseResult& result) {
    using Json = nlohmann::ordered_json;
    const emit::Emission& emission = result.emission;
    Json json = {{"schema_version", kSchemaVersion},
                 {"name", emission.name},
                 {"folder", printable(result.folder.string())},
                 {"chain_hash", emission.kernel.chain_hash},
                 {"element_count", emission.kernel.element_count},
                 {"original_kernels", result.original_kernels},
                 {"fused_kernels", 1},
                 {"configuration", result.configuration},
                 {"variants_tried", result.variants_tried},
                 {"variants_rejected", result.variants_rejected},
                 {"architectures", architecture_names(emission)},
                 {"verification", Json::parse(verify::to_json(emission.verification))},
                 {"benchmark", Json::parse(verify::to_json(emission.benchmark))}};
    return json.dump(2) + "\n";
}

} // namespace deepjit::cli
