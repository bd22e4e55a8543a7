#include "fusers/emit/emitted_texts.hpp"
#include "fusers/emit/text_template.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace deepjit::emit {

namespace {

/// Text from outside in a line of Markdown: nothing that could open markup or end the line.
std::string markdown_safe(std::string_view text) {
    std::string safe;
    for (const char c : printable(text)) {
        if (c == '`' || c == '|' || c == '<' || c == '[' || c == '*' || c == '_' || c == '\\') safe += '\\';
        safe += c;
    }
    return safe;
}

std::string sentence(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

std::string operand_rows(const std::vector<Operand>& operands) {
    std::string text;
    for (const Operand& operand : operands)
        text += fmt::format("{}| `{}` | {} | {} |", text.empty() ? "" : "\n", operand.name,
                            operand.is_output ? "output" : "input", type_text(operand));
    return text;
}

std::string verdict(const verify::Verification& verification) {
    if (verification.status == verify::VerificationStatus::NotRun)
        return fmt::format("**Not verified on a GPU here**: {}.", markdown_safe(verification.reason));
    std::string text = fmt::format(
        "**Verification {}** on {}: {}.\n\n"
        "| output | fused error | original error | margin | bits that differ |\n|---|---|---|---|---|\n",
        verify::name_of(verification.status), markdown_safe(verification.device_name),
        markdown_safe(verification.reason));
    for (const verify::OutputVerdict& output : verification.outputs)
        text += fmt::format("| `{}` | {:.3g} | {:.3g} | {:.3g} | {} of {} |\n", to_identifier(output.name),
                            output.fused.error, output.original.error, verify::margin_for(output.dtype),
                            format_count(output.different_bits), format_count(output.fused.elements));
    return text + fmt::format("\nErrors are against float64, relative. \"Original\" is {}.",
                              markdown_safe(verification.original_side));
}

std::string time_cell(const verify::Estimate& estimate) {
    return fmt::format("{} ({} to {})", format_duration(estimate.median_ns), format_duration(estimate.low_ns),
                       format_duration(estimate.high_ns));
}

std::string times(const verify::Benchmark& benchmark) {
    if (!benchmark.measured)
        return fmt::format("**Times: not measured here**: {}.", markdown_safe(benchmark.reason));
    std::string text =
        fmt::format("Measured on {}: GPU time of one call, median and 95 % interval, the four ways "
                    "interleaved.\n\n"
                    "| L2 | original stream | original graph | fused stream | fused graph |\n"
                    "|---|---|---|---|---|\n",
                    markdown_safe(benchmark.device_name));
    for (const verify::FourWay& state : benchmark.states)
        text += fmt::format("| {} | {} | {} | {} | {} |\n", verify::name_of(state.l2),
                            time_cell(state.original_stream), time_cell(state.original_graph),
                            time_cell(state.fused_stream), time_cell(state.fused_graph));
    return text + "\n" + markdown_safe(verify::recommend(benchmark).sentence);
}

std::string image_rows(const Emission& emission) {
    std::string rows;
    for (const DeviceImage& image : emission.images)
        rows += fmt::format("| `{}` | the kernel for sm_{} and later devices of that generation |\n",
                            cubin_file_name(emission, image), image.compute_capability);
    if (emission.ptx_capability != 0)
        rows += fmt::format("| `{}` | the kernel for every later device |\n", ptx_file_name(emission));
    if (!rows.empty()) rows.pop_back();
    return rows;
}

std::string record_rows(const Emission& emission) {
    std::string rows = "| `verify.json` | the verdict as data |";
    if (emission.benchmark.measured) rows += "\n| `bench.json` | the times as data |";
    return rows;
}

std::vector<std::string> names_of(const std::vector<Operand>& operands) {
    std::vector<std::string> names;
    for (const Operand& operand : operands)
        names.push_back(operand.name);
    return names;
}

std::string architectures(const Emission& emission) {
    std::vector<std::string> names;
    for (const DeviceImage& image : emission.images)
        names.push_back(fmt::format("sm_{}", image.compute_capability));
    if (emission.ptx_capability != 0)
        names.push_back(fmt::format("(as PTX) compute_{} and later", emission.ptx_capability));
    return join_words(names);
}

} // namespace

std::string readme_text(const Emission& emission, const std::vector<Operand>& operands) {
    return fill_template(
        kReadmeTemplate,
        {{"name", emission.name},
         {"summary", sentence(summary_of(emission))},
         {"operand_rows", operand_rows(operands)},
         {"verdict", verdict(emission.verification)},
         {"times", times(emission.benchmark)},
         {"architectures", architectures(emission)},
         {"pointer_rules", pointer_rules(emission, operands)},
         {"image_rows", image_rows(emission)},
         {"record_rows", record_rows(emission)},
         {"call", launch_call(emission, names_of(operands))},
         {"call_example", broken_python(fmt::format("{} = {}({})", names_joined(outputs_of(operands)),
                                                    emission.name, names_joined(inputs_of(operands))))}});
}

} // namespace deepjit::emit
