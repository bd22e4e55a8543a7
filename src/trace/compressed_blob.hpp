#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace deepjit::trace {

/// How bytes lie in a BLOB column, and the value of the `compression` column beside it.
struct StoredBytes {
    std::string_view compression; ///< "none" or "zlib"
    std::string packed;           ///< empty where not compressed: then the bytes themselves are stored
};

/// Compresses where that saves at least a tenth.
StoredBytes pack(std::string_view bytes);

/// The bytes again. The error, one sentence without a subject, says why `data` is not `bytes` bytes
/// compressed in that way, or not those of the hash.
Result<std::string> unpack(std::string data, std::string_view compression, std::int64_t bytes,
                           std::string_view hash);

} // namespace deepjit::trace
