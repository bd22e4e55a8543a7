#include "src/base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace deepjit {

std::string hash_hex(std::string_view bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t hash_64(std::string_view bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

} // namespace deepjit
