#pragma once

#include <cstdint>
#include <string>

namespace deepjit::ingest {

/// A hash of a recording as hash_hex() writes it: digits alone, so that a file's name made of it cannot lead
/// out of its folder.
inline std::string hash_text(const std::uint8_t (&hash)[16]) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : hash) {
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 15U];
    }
    return text;
}

} // namespace deepjit::ingest
