#include "src/tracer/image_extent.hpp"

#include "src/base/image_format.hpp"
#include "src/tracer/target_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace deepjit::tracer {
namespace {

using namespace image_format;

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20U;

bool begins_text(std::byte first) noexcept {
    const auto character = static_cast<unsigned char>(first);
    return (character >= ' ' && character < 0x7F) || (character >= '\t' && character <= '\r');
}

template <class T>
bool read(const std::byte* address, T& value) noexcept {
    return copy_target_memory(&value, address, sizeof value) == sizeof value;
}

/// Widens `end` to hold `bytes` at `offset`; false where that cannot be in an image.
bool include(std::uint64_t& end, std::uint64_t offset, std::uint64_t bytes) noexcept {
    if (offset > kMaxImageBytes || bytes > kMaxImageBytes - offset) return false;
    end = std::max(end, offset + bytes);
    return true;
}

/// Calls `use(entry)` for each of `count` entries of a table, which are read a page at a time.
template <class Entry, class Use>
bool for_each_entry(const std::byte* table, std::uint64_t count, Use use) noexcept {
    constexpr std::size_t kBatch = kPageBytes / sizeof(Entry);
    Entry entries[kBatch];
    for (std::uint64_t done = 0; done < count;) {
        const auto batch = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, count - done));
        const std::size_t bytes = batch * sizeof(Entry);
        if (copy_target_memory(entries, table + done * sizeof(Entry), bytes) != bytes) return false;
        for (std::size_t i = 0; i < batch; ++i)
            if (!use(entries[i])) return false;
        done += batch;
    }
    return true;
}

ImageExtent elf_extent(const std::byte* image) noexcept {
    ElfHeader header;
    if (!read(image, header) || header.elf_class != kElfClass64) return {};
    std::uint64_t end = sizeof header;
    std::uint64_t sections = header.section_count;
    if (header.section_table_offset != 0) {
        if (header.section_entry_bytes != sizeof(ElfSection)) return {};
        if (!include(end, header.section_table_offset, sizeof(ElfSection))) return {};
        ElfSection first;
        if (sections == 0 && !read(image + header.section_table_offset, first)) return {};
        if (sections == 0) sections = first.bytes;
        if (sections > kMaxImageBytes / sizeof(ElfSection) ||
            !include(end, header.section_table_offset, sections * sizeof(ElfSection)))
            return {};
        const bool whole = for_each_entry<ElfSection>(
            image + header.section_table_offset, sections, [&](const ElfSection& section) {
                return section.type == kSectionTypeNoBits || include(end, section.offset, section.bytes);
            });
        if (!whole) return {};
    }
    if (header.program_count != 0) {
        if (header.program_entry_bytes != sizeof(ElfSegment)) return {};
        if (!include(end, header.program_table_offset, header.program_count * sizeof(ElfSegment))) return {};
        const bool whole = for_each_entry<ElfSegment>(
            image + header.program_table_offset, header.program_count,
            [&](const ElfSegment& segment) { return include(end, segment.offset, segment.file_bytes); });
        if (!whole) return {};
    }
    return {image, static_cast<std::size_t>(end), wire::ImageKind::Cubin};
}

ImageExtent fat_binary_extent(const std::byte* image) noexcept {
    FatBinaryHeader header;
    std::uint64_t end = 0;
    if (!read(image, header) || header.magic != FatBinaryHeader::kMagic ||
        header.header_bytes < sizeof header || !include(end, header.header_bytes, header.payload_bytes))
        return {};
    return {image, static_cast<std::size_t>(end), wire::ImageKind::FatBinary};
}

/// The number of bytes before the terminator; 0 where there is none within reason.
std::size_t text_length(const std::byte* text) noexcept {
    std::byte page[kPageBytes];
    for (std::size_t length = 0; length < kMaxTextBytes;) {
        // Never across a page's end, since the text may end right before memory that cannot be read.
        const std::size_t to_page_end =
            kPageBytes - (reinterpret_cast<std::uintptr_t>(text) + length) % kPageBytes;
        const std::size_t count = copy_target_memory(page, text + length, to_page_end);
        if (count == 0) return 0;
        const auto* const terminator = static_cast<const std::byte*>(std::memchr(page, 0, count));
        if (terminator != nullptr) return length + static_cast<std::size_t>(terminator - page);
        length += count;
    }
    return 0;
}

ImageExtent text_extent(const std::byte* image) noexcept {
    std::byte start[kPageBytes];
    if (!read(image, start[0]) || !begins_text(start[0])) return {};
    const std::size_t length = text_length(image);
    const std::size_t count = copy_target_memory(start, image, std::min(length, sizeof start));
    wire::ImageKind kind{};
    if (!image_kind_of(start, count, kind) || kind != wire::ImageKind::Ptx) return {};
    return {image, length, kind};
}

} // namespace

bool image_kind_of(const std::byte* start, std::size_t bytes, wire::ImageKind& kind) noexcept {
    std::uint32_t magic = 0;
    if (bytes < sizeof magic) return false;
    std::memcpy(&magic, start, sizeof magic);
    if (magic == kElfMagic)
        kind = wire::ImageKind::Cubin;
    else if (magic == FatBinaryHeader::kMagic)
        kind = wire::ImageKind::FatBinary;
    else if (begins_text(start[0]) &&
             std::string_view(reinterpret_cast<const char*>(start), bytes).find(".version") !=
                 std::string_view::npos)
        kind = wire::ImageKind::Ptx;
    else
        return false;
    return true;
}

ImageExtent image_extent(const void* image) noexcept {
    const auto* const bytes = static_cast<const std::byte*>(image);
    std::uint32_t magic = 0;
    if (bytes == nullptr || !read(bytes, magic)) return {};
    if (magic == kElfMagic) return elf_extent(bytes);
    if (magic == FatBinaryHeader::kMagic) return fat_binary_extent(bytes);
    if (magic != FatBinaryWrapper::kMagic) return text_extent(bytes);
    FatBinaryWrapper wrapper;
    if (!read(bytes, wrapper)) return {};
    return fat_binary_extent(static_cast<const std::byte*>(wrapper.fat_binary));
}

} // namespace deepjit::tracer
