#pragma once

#include <cstddef>
#include <cstdint>

/// The containers that device code comes in, as they lie in memory and on disk. Little-endian.
namespace deepjit::image_format {

inline constexpr std::uint32_t kElfMagic = 0x464C'457F; ///< "\x7f" "ELF"
inline constexpr std::uint8_t kElfClass64 = 2;
inline constexpr std::uint16_t kElfMachineCuda = 190;
inline constexpr std::uint32_t kSectionTypeSymbols = 2;
inline constexpr std::uint32_t kSectionTypeNoBits = 8;
/// e_shnum is 0 and the number stands in sh_size of section 0, where there are more sections than 16 bits
/// tell.
inline constexpr std::uint16_t kSectionIndexExtended = 0xFFFF;

struct ElfHeader {
    std::uint32_t magic;
    std::uint8_t elf_class;
    std::uint8_t identification[11];
    std::uint16_t type;
    std::uint16_t machine;
    std::uint32_t version;
    std::uint64_t entry;
    std::uint64_t program_table_offset;
    std::uint64_t section_table_offset;
    std::uint32_t flags;
    std::uint16_t header_bytes;
    std::uint16_t program_entry_bytes;
    std::uint16_t program_count;
    std::uint16_t section_entry_bytes;
    std::uint16_t section_count;
    std::uint16_t section_names_index;
};
static_assert(sizeof(ElfHeader) == 64);

struct ElfSection {
    std::uint32_t name;
    std::uint32_t type;
    std::uint64_t flags;
    std::uint64_t address;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint32_t link;
    std::uint32_t information;
    std::uint64_t alignment;
    std::uint64_t entry_bytes;
};
static_assert(sizeof(ElfSection) == 64);

struct ElfSegment {
    std::uint32_t type;
    std::uint32_t flags;
    std::uint64_t offset;
    std::uint64_t virtual_address;
    std::uint64_t physical_address;
    std::uint64_t file_bytes;
    std::uint64_t memory_bytes;
    std::uint64_t alignment;
};
static_assert(sizeof(ElfSegment) == 56);

struct ElfSymbol {
    std::uint32_t name;
    std::uint8_t information; ///< low four bits: the type, 2 for functions
    std::uint8_t other;
    std::uint16_t section;
    std::uint64_t value;
    std::uint64_t bytes;
};
static_assert(sizeof(ElfSymbol) == 24);

/// Heads one fat binary: `header_bytes`, then `payload_bytes` of entries.
struct FatBinaryHeader {
    static constexpr std::uint32_t kMagic = 0xBA55'ED50;
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t payload_bytes;
};
static_assert(sizeof(FatBinaryHeader) == 16);

/// What nvcc's host code passes for a fat binary: a pointer to it (__fatBinC_Wrapper_t).
struct FatBinaryWrapper {
    static constexpr std::uint32_t kMagic = 0x4662'43B1;
    std::uint32_t magic;
    std::uint32_t version;
    const void* fat_binary;
    void* file_name_or_prelinked;
};
static_assert(sizeof(FatBinaryWrapper) == 24);

/// More than any real image: what says to be larger is not one.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{1} << 30U;

} // namespace deepjit::image_format
