#include "fusers/jit/compiler_log.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace deepjit::jit {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// The whole number that ends just before `unit`: 12 in "Used 12 registers" for " registers".
int number_before(std::string_view line, std::string_view unit) {
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos) return 0;
    std::size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        --begin;
    int value = 0;
    std::from_chars(line.data() + begin, line.data() + end, value);
    return value;
}

struct SourceError {
    std::size_t line = 0; ///< from 1
    std::string_view text;
};

/// "name.cu(3): error: identifier ..." and its "catastrophic error" form.
std::optional<SourceError> parse_error(std::string_view line) {
    for (const std::string_view marker : {"): error: ", "): catastrophic error: "}) {
        const std::size_t end = line.find(marker);
        if (end == std::string_view::npos) continue;
        const std::size_t open = line.rfind('(', end);
        if (open == std::string_view::npos) continue;
        SourceError error;
        const auto [stop, code] = std::from_chars(line.data() + open + 1, line.data() + end, error.line);
        if (code != std::errc{} || stop != line.data() + end) continue;
        error.text = trimmed(line.substr(end + marker.size()));
        return error;
    }
    return std::nullopt;
}

} // namespace

std::vector<EntryResources> parse_resources(std::string_view log) {
    std::vector<EntryResources> entries;
    for (const std::string_view line : split_lines(log)) {
        constexpr std::string_view kEntry = "Compiling entry function '";
        if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
            const std::string_view rest = line.substr(at + kEntry.size());
            entries.push_back({.name = std::string(rest.substr(0, rest.find('\'')))});
        } else if (entries.empty()) {
            continue;
        } else if (line.find(" bytes stack frame") != std::string_view::npos) {
            entries.back().stack_bytes = number_before(line, " bytes stack frame");
            entries.back().spill_store_bytes = number_before(line, " bytes spill stores");
            entries.back().spill_load_bytes = number_before(line, " bytes spill loads");
        } else if (line.find(": Used ") != std::string_view::npos) {
            entries.back().registers_per_thread = number_before(line, " registers");
            entries.back().static_shared_bytes = number_before(line, " bytes smem");
        }
    }
    return entries;
}

std::string without_figures(std::string_view log) {
    std::string kept;
    for (const std::string_view line : split_lines(log)) {
        const bool figure = line.starts_with("ptxas info") || line.starts_with("ptxas         .");
        if (!figure) kept += fmt::format("{}\n", line);
    }
    return std::string(trimmed(kept));
}

std::string explain_errors(std::string_view log, std::string_view source, std::size_t most) {
    const std::vector<std::string_view> source_lines = split_lines(source);
    std::string explanation;
    std::size_t shown = 0;
    std::size_t found = 0;
    for (const std::string_view line : split_lines(log)) {
        const std::optional<SourceError> error = parse_error(line);
        if (!error) continue;
        ++found;
        if (shown == most) continue;
        ++shown;
        if (!explanation.empty()) explanation += "; ";
        explanation += fmt::format("line {}: {}", error->line, printable(error->text));
        if (error->line >= 1 && error->line <= source_lines.size())
            explanation += fmt::format(", at `{}`", printable(trimmed(source_lines[error->line - 1])));
    }
    if (found > shown) explanation += fmt::format("; and {} more", found - shown);
    if (explanation.empty()) explanation = printable(without_figures(log).substr(0, 400));
    return explanation;
}

} // namespace deepjit::jit
