#include "src/trace/compressed_blob.hpp"

#include "src/base/hash.hpp"

#include <zlib.h>

namespace deepjit::trace {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::string_view kZlib = "zlib";
/// A damaged or made-up trace must not make its reader allocate whatever it says.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30U;

/// False where `data` is not exactly `bytes.size()` bytes, compressed.
bool decompress(std::string_view data, std::string& bytes) {
    uLongf size = bytes.size();
    const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                reinterpret_cast<const Bytef*>(data.data()), data.size());
    return code == Z_OK && size == bytes.size();
}

} // namespace

StoredBytes pack(std::string_view bytes) {
    StoredBytes stored{kNone, {}};
    if (bytes.size() < 64 || bytes.size() > static_cast<std::size_t>(kMaxBytes)) return stored;
    std::string packed(compressBound(bytes.size()), '\0');
    uLongf size = packed.size();
    if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                  reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED) != Z_OK ||
        size > bytes.size() / 10 * 9)
        return stored;
    packed.resize(size);
    return {kZlib, std::move(packed)};
}

Result<std::string> unpack(std::string data, std::string_view compression, std::int64_t bytes,
                           std::string_view hash) {
    if (compression == kZlib) {
        if (bytes < 0 || bytes > kMaxBytes) return failure("its size cannot be");
        std::string unpacked(static_cast<std::size_t>(bytes), '\0');
        if (!decompress(data, unpacked)) return failure("it cannot be decompressed");
        data = std::move(unpacked);
    } else if (compression != kNone) {
        return failure("its compression is unknown");
    }
    if (hash_hex(data) != hash) return failure("its bytes do not have its hash");
    return data;
}

} // namespace deepjit::trace
