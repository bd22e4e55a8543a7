#include "src/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace deepjit {
namespace {

struct Unit {
    std::string_view name;
    double nanoseconds;
};
constexpr std::array kUnits = {Unit{"ns", 1.0},      Unit{"us", 1e3}, Unit{"\u00b5s", 1e3},
                               Unit{"\u03bcs", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Three significant digits without an exponent.
std::string three_digits(double value) {
    const double magnitude = std::abs(value);
    if (magnitude >= 99.95) return fmt::format("{:.0f}", value);
    if (magnitude >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

} // namespace

Result<double> parse_duration_ns(std::string_view text) {
    const std::string_view trimmed = trim(text);
    double number = 0.0;
    const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
    if (error != std::errc{} || !std::isfinite(number))
        return usage_error(fmt::format("'{}' is not a time", text), {},
                           "write a number and a unit, such as 12.3ms");
    if (number < 0) return usage_error(fmt::format("'{}' is a negative time", text));
    const std::string_view unit = trim(trimmed.substr(static_cast<std::size_t>(end - trimmed.data())));
    for (const Unit& known : kUnits) {
        if (known.name != unit) continue;
        if (std::isfinite(number * known.nanoseconds)) return number * known.nanoseconds;
        return usage_error(fmt::format("'{}' is longer than any time that can be counted", text));
    }
    return usage_error(unit.empty() ? fmt::format("'{}' has no unit", text)
                                    : fmt::format("'{}' is not a unit of time", unit),
                       {}, "the units are ns, us, ms and s");
}

std::string format_duration(double nanoseconds) {
    const double magnitude = std::abs(nanoseconds);
    if (magnitude >= 0.9995e9) return three_digits(nanoseconds / 1e9) + " s";
    if (magnitude >= 0.9995e6) return three_digits(nanoseconds / 1e6) + " ms";
    if (magnitude >= 0.9995e3) return three_digits(nanoseconds / 1e3) + " \u00b5s";
    return fmt::format("{:.0f} ns", nanoseconds);
}

std::string format_bytes(double bytes) {
    constexpr std::array<std::string_view, 5> kSuffixes = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t suffix = 0;
    while (std::abs(bytes) >= 1024.0 && suffix + 1 < kSuffixes.size()) {
        bytes /= 1024.0;
        ++suffix;
    }
    if (suffix == 0) return fmt::format("{:.0f} B", bytes);
    return fmt::format("{} {}", three_digits(bytes), kSuffixes[suffix]);
}

std::string format_share(double share) {
    const double percent = share * 100.0;
    return std::abs(percent) < 9.95 && percent != 0.0 ? fmt::format("{:.1f} %", percent)
                                                      : fmt::format("{:.0f} %", percent);
}

std::string format_count(std::int64_t count) {
    std::string digits = std::to_string(count);
    for (auto position = static_cast<std::ptrdiff_t>(digits.size()) - 3; position > (count < 0 ? 1 : 0);
         position -= 3)
        digits.insert(static_cast<std::size_t>(position), ",");
    return digits;
}

} // namespace deepjit
