#include "src/ingest/lz4_block.hpp"

#include <cstdint>

namespace deepjit::ingest {
namespace {

constexpr std::size_t kMinMatch = 4;
constexpr std::size_t kLengthContinues = 15;

class Block {
  public:
    explicit Block(std::string_view bytes) : bytes_(bytes) {}
    bool at_end() const { return at_ == bytes_.size(); }
    std::optional<std::size_t> byte() {
        if (at_end()) return std::nullopt;
        return static_cast<unsigned char>(bytes_[at_++]);
    }
    std::optional<std::string_view> take(std::size_t count) {
        if (count > bytes_.size() - at_) return std::nullopt;
        at_ += count;
        return bytes_.substr(at_ - count, count);
    }
    /// A length whose first four bits are `length`: 15 goes on in bytes until one is not 255.
    std::optional<std::size_t> rest_of_length(std::size_t length) {
        if (length != kLengthContinues) return length;
        for (;;) {
            const auto more = byte();
            if (!more) return std::nullopt;
            length += *more;
            if (*more != 255) return length;
        }
    }

  private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

} // namespace

std::optional<std::string> decompress_lz4_block(std::string_view bytes, std::size_t decompressed_bytes) {
    Block block(bytes);
    std::string out;
    out.reserve(decompressed_bytes);
    while (!block.at_end()) {
        const std::size_t token = *block.byte();
        const auto literals = block.rest_of_length(token >> 4U);
        const auto text = literals ? block.take(*literals) : std::nullopt;
        if (!text || text->size() > decompressed_bytes - out.size()) return std::nullopt;
        out.append(*text);
        if (block.at_end()) break; // the last sequence has no match
        const auto low = block.byte();
        const auto high = block.byte();
        if (!low || !high) return std::nullopt;
        const std::size_t distance = *low | *high << 8U;
        const auto length = block.rest_of_length(token & 15U);
        if (!length || distance == 0 || distance > out.size()) return std::nullopt;
        const std::size_t count = *length + kMinMatch;
        if (count > decompressed_bytes - out.size()) return std::nullopt;
        for (std::size_t i = 0; i < count; ++i) // may overlap what it writes
            out.push_back(out[out.size() - distance]);
    }
    if (out.size() != decompressed_bytes) return std::nullopt;
    return out;
}

} // namespace deepjit::ingest
