#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deepjit {

/// XXH3-128 of `bytes` in 32 lower-case hexadecimal digits: the same on every machine. Not cryptographic.
std::string hash_hex(std::string_view bytes);

/// XXH3-64, for interning.
std::uint64_t hash_64(std::string_view bytes);

} // namespace deepjit
