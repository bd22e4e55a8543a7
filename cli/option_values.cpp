#include "cli/option_values.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace deepjit::cli {
namespace {

/// The whole text as a finite decimal number.
std::optional<double> finite_number(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

Diagnostic refusal(std::string_view option, std::string_view text, std::string_view expected) {
    return usage_error(fmt::format("{} cannot be '{}': it takes {}", option, printable(text), expected));
}

} // namespace

Result<double> parse_share(std::string_view option, std::string_view text) {
    const bool percent = text.ends_with('%');
    const std::optional<double> number = finite_number(percent ? text.substr(0, text.size() - 1) : text);
    const double share = number.value_or(-1) / (percent ? 100 : 1);
    if (share < 0 || share > 1)
        return refusal(option, text, "a share from 0 to 1, such as 0.05, or from 0% to 100%");
    return share;
}

Result<double> parse_ratio(std::string_view option, std::string_view text, double least) {
    const std::optional<double> number = finite_number(text);
    if (!number || *number < least)
        return refusal(option, text, fmt::format("a number of {:g} or more, such as 2.5", least));
    return *number;
}

Result<std::int64_t> parse_bytes(std::string_view option, std::string_view text) {
    static constexpr std::pair<std::string_view, double> kUnits[] = {
        {"", 1.0},          {"B", 1.0},
        {"KB", 1e3},        {"MB", 1e6},
        {"GB", 1e9},        {"TB", 1e12},
        {"KiB", 1 << 10U},  {"MiB", 1 << 20U},
        {"GiB", 1U << 30U}, {"TiB", 1024.0 * (1U << 30U)}};
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::optional<double> number = finite_number(text.substr(0, digits));
    std::string_view unit = text.substr(digits);
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    for (const auto& [name, bytes_each] : kUnits) {
        if (name != unit || !number) continue;
        const double bytes = *number * bytes_each;
        if (bytes >= 1 && bytes < 9e18) return static_cast<std::int64_t>(bytes);
    }
    return refusal(option, text, "a size of a byte or more, such as 500000, 64MB or 4GiB");
}

Result<std::int64_t> parse_count(std::string_view option, std::string_view text) {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc::result_out_of_range && end == text.data() + text.size())
        return refusal(option, text, fmt::format("{} at most", std::numeric_limits<std::int64_t>::max()));
    if (error != std::errc{} || end != text.data() + text.size() || count < 1)
        return refusal(option, text, "a whole number, 1 or more");
    return count;
}

} // namespace deepjit::cli
