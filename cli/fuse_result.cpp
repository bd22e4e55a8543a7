#include "cli/fuse_result.hpp"

#include "src/base/text.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace deepjit::cli {

namespace {

using verify::Estimate;

constexpr int kFuseSchemaVersion = 1;

std::vector<std::string> architecture_names(const emit::Emission& emission) {
    std::vector<std::string> names;
    for (const emit::DeviceImage& image : emission.images)
        names.push_back(fmt::format("sm_{}", image.compute_capability));
    if (emission.ptx_capability != 0) names.push_back(fmt::format("compute_{}", emission.ptx_capability));
    return names;
}

/// "label     text", further lines below the text.
std::string labelled(std::string_view label, std::string_view text, std::size_t columns) {
    constexpr std::size_t kIndent = 10;
    std::string lines = fmt::format("{:<{}}", label, kIndent);
    for (const char c : wrap_words(text, columns - kIndent, columns - kIndent)) {
        lines += c;
        if (c == '\n') lines += std::string(kIndent, ' ');
    }
    return lines + "\n";
}

std::string verdict_lines(const verify::Verification& verification, std::size_t columns) {
    if (verification.status == verify::VerificationStatus::NotRun)
        return labelled("verdict", "not verified on a GPU: " + printable(verification.reason), columns);
    std::string text =
        labelled("verdict",
                 fmt::format("{} on {}: {}", name_of(verification.status),
                             printable(verification.device_name), printable(verification.reason)),
                 columns);
    for (const verify::OutputVerdict& output : verification.outputs) {
        const double epsilon = verify::margin_for(output.dtype);
        if (epsilon > 0)
            text += labelled(
                "error",
                fmt::format("{}: fused {:.3g} ({:.2f} eps), original {:.3g} ({:.2f} eps), margin 1 eps",
                            output.name, output.fused.error, output.fused.error / epsilon,
                            output.original.error, output.original.error / epsilon),
                columns);
        text += labelled("bits",
                         fmt::format("{}: {}", output.name,
                                     output.different_bits == 0
                                         ? "equal to the originals' in every element"
                                         : fmt::format("{} of {} elements differ from the originals'",
                                                       format_count(output.different_bits),
                                                       format_count(output.fused.elements))),
                         columns);
    }
    return text + labelled("original", verification.original_side, columns);
}

std::string time_line(std::string_view way, const Estimate& cold, const Estimate& hot) {
    const auto cell = [](const Estimate& estimate) {
        return fmt::format("{} ({} to {})", format_duration(estimate.median_ns),
                           format_duration(estimate.low_ns), format_duration(estimate.high_ns));
    };
    return fmt::format("  {:<16} {:<29} {}\n", way, cell(cold), cell(hot));
}

std::string time_lines(const verify::Benchmark& benchmark, std::size_t columns) {
    if (!benchmark.measured)
        return labelled("times", "not measured: " + printable(benchmark.reason), columns);
    const verify::FourWay& cold = benchmark.states.front();
    const verify::FourWay& hot = benchmark.states.back();
    std::string text = labelled("times", "measured GPU time of one call, median and 95 % interval", columns);
    text += fmt::format("  {:<16} {:<29} {}\n", "", "cold L2", "hot L2");
    text += time_line("original stream", cold.original_stream, hot.original_stream);
    text += time_line("original graph", cold.original_graph, hot.original_graph);
    text += time_line("fused stream", cold.fused_stream, hot.fused_stream);
    text += time_line("fused graph", cold.fused_graph, hot.fused_graph);
    return text + wrap_words(verify::recommend(benchmark).sentence, columns, columns) + "\n";
}

} // namespace

std::string fuse_text(const FuseResult& result, std::size_t columns) {
    std::string text =
        fmt::format("{}: {} kernels into 1, {} elements\n", result.emission.name, result.original_kernels,
                    format_count(result.emission.kernel.element_count));
    text += verdict_lines(result.emission.verification, columns);
    text += time_lines(result.emission.benchmark, columns);
    text += labelled("variants",
                     fmt::format("{} tried, {} rejected; chosen: {}", result.variants_tried,
                                 result.variants_rejected, result.configuration),
                     columns);
    text += labelled("compiled", join_words(architecture_names(result.emission)), columns);
    text += labelled("written", printable(result.folder.string()), columns);
    return text;
}

std::string fuse_json(const FuseResult& result) {
    using Json = nlohmann::ordered_json;
    const emit::Emission& emission = result.emission;
    Json json = {{"schema_version", kFuseSchemaVersion},
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
