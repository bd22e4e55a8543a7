#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace deepjit::cli {

/// Values of options, read here and not by CLI11, which takes "nan" for a number, clamps what does not fit
/// and reads "0x10". Errors are usage errors of one sentence that name the option.

/// Of --short, below which a kernel is short: the same for `advise` and `fuse`, which then find the same
/// chains.
inline constexpr const char* kDefaultShort = "5us";

/// "0.05" or "5%": from 0 to 1.
Result<double> parse_share(std::string_view option, std::string_view text);

/// A finite number of at least `least`.
Result<double> parse_ratio(std::string_view option, std::string_view text, double least);

/// "500", "64MB" or "4 GiB", at least one byte: a number and B, KB, MB, GB, TB (powers of 1000), KiB, MiB,
/// GiB or TiB (powers of 1024).
Result<std::int64_t> parse_bytes(std::string_view option, std::string_view text);

/// Decimal digits, at least 1 and within 64 bits.
Result<std::int64_t> parse_count(std::string_view option, std::string_view text);

} // namespace deepjit::cli
