#include "src/ingest/fat_binary.hpp"

#include "src/base/image_format.hpp"
#include "src/ingest/lz4_block.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <cstring>
#include <optional>

namespace deepjit::ingest {
namespace {

using image_format::FatBinaryHeader;

/// Heads an entry; `header_bytes` may be more, for compile options and names.
struct EntryHeader {
    std::uint16_t kind;
    std::uint16_t version;
    std::uint32_t header_bytes;
    std::uint64_t payload_bytes;
    std::uint32_t compressed_bytes; ///< 0 where not compressed; the payload is padded to 8 bytes
    std::uint32_t options_offset;
    std::uint16_t code_minor;
    std::uint16_t code_major;
    std::uint32_t architecture;
    std::uint32_t name_offset;
    std::uint32_t name_bytes;
    std::uint64_t flags;
    std::uint64_t reserved;
    std::uint64_t decompressed_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kCubin = 2;
constexpr std::uint64_t kLz4 = 0x2000;
constexpr std::uint64_t kZstandard = 0x8000;
/// A made-up entry must not make its reader allocate whatever it says.
constexpr std::uint64_t kMaxCodeBytes = std::uint64_t{256} << 20U;

Diagnostic damaged_fat_binary(std::string evidence) {
    return failure("this is no whole fat binary", std::move(evidence));
}

std::optional<std::string> decompress_zstandard(std::string_view bytes, std::size_t decompressed_bytes) {
    std::string out(decompressed_bytes, '\0');
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(size) != 0 || size != decompressed_bytes) return std::nullopt;
    return out;
}

std::optional<std::string> code_of(const EntryHeader& header, std::string_view payload) {
    if ((header.flags & (kLz4 | kZstandard)) == 0) return std::string(payload);
    if (header.compressed_bytes > payload.size() || header.decompressed_bytes > kMaxCodeBytes)
        return std::nullopt;
    const std::string_view compressed = payload.substr(0, header.compressed_bytes);
    return (header.flags & kLz4) != 0 ? decompress_lz4_block(compressed, header.decompressed_bytes)
                                      : decompress_zstandard(compressed, header.decompressed_bytes);
}

FatBinaryEntry::Kind kind_of(std::uint16_t number) {
    if (number == kPtx) return FatBinaryEntry::Kind::Ptx;
    return number == kCubin ? FatBinaryEntry::Kind::Cubin : FatBinaryEntry::Kind::Other;
}

Result<void> add_entries(std::string_view payload, std::vector<FatBinaryEntry>& entries) {
    while (!payload.empty()) {
        EntryHeader header;
        if (payload.size() < sizeof header) return damaged_fat_binary("an entry's header is cut off");
        std::memcpy(&header, payload.data(), sizeof header);
        if (header.header_bytes < sizeof header || header.header_bytes > payload.size())
            return damaged_fat_binary(fmt::format("an entry's header has {} bytes", header.header_bytes));
        payload.remove_prefix(header.header_bytes);
        if (header.payload_bytes > payload.size())
            return damaged_fat_binary(fmt::format("an entry has {} bytes, of which {} are there",
                                                  header.payload_bytes, payload.size()));
        FatBinaryEntry& entry = entries.emplace_back();
        entry.kind = kind_of(header.kind);
        entry.architecture = header.architecture;
        if (entry.kind != FatBinaryEntry::Kind::Other) {
            auto code = code_of(header, payload.substr(0, header.payload_bytes));
            if (!code) return damaged_fat_binary("an entry cannot be decompressed");
            entry.code = *std::move(code);
        }
        payload.remove_prefix(header.payload_bytes);
    }
    return {};
}

} // namespace

Result<std::vector<FatBinaryEntry>> read_fat_binary(std::string_view fat_binary) {
    std::vector<FatBinaryEntry> entries;
    do {
        FatBinaryHeader header;
        if (fat_binary.size() < sizeof header) return damaged_fat_binary("its header is cut off");
        std::memcpy(&header, fat_binary.data(), sizeof header);
        if (header.magic != FatBinaryHeader::kMagic)
            return damaged_fat_binary("it does not begin as one does");
        if (header.header_bytes < sizeof header || header.header_bytes > fat_binary.size())
            return damaged_fat_binary(fmt::format("its header has {} bytes", header.header_bytes));
        fat_binary.remove_prefix(header.header_bytes);
        if (header.payload_bytes > fat_binary.size())
            return damaged_fat_binary(fmt::format("it has {} bytes, of which {} are there",
                                                  header.payload_bytes, fat_binary.size()));
        DEEPJIT_CHECK(add_entries(fat_binary.substr(0, header.payload_bytes), entries));
        fat_binary.remove_prefix(header.payload_bytes);
    } while (!fat_binary.empty());
    return entries;
}

} // namespace deepjit::ingest
