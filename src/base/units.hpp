#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace deepjit {

/// "12.3ms", "318 us", "1.5s", "800ns" (also "µs") to nanoseconds. A number with no unit is refused.
Result<double> parse_duration_ns(std::string_view text);

/// Three significant digits and the unit a person would choose: "318 µs", "12.3 ms", "0 ns".
std::string format_duration(double nanoseconds);

/// Binary multiples with three significant digits: "16.0 MiB", "512 B".
std::string format_bytes(double bytes);

/// "75 %" for 0.75; one decimal below 10 %.
std::string format_share(double share);

/// Thousands separated by commas: "1,048,576".
std::string format_count(std::int64_t count);

} // namespace deepjit
