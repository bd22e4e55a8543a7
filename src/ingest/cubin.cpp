#include "src/ingest/cubin.hpp"

#include "src/base/image_format.hpp"

#include <cstring>
#include <optional>

namespace deepjit::ingest {
namespace {

using namespace image_format;

constexpr std::uint8_t kSymbolTypeFunction = 2;
/// STO_CUDA_ENTRY: a kernel, as opposed to a device function that others call.
constexpr std::uint8_t kSymbolIsEntry = 0x10;

Diagnostic damaged_cubin(std::string evidence) {
    return failure("this is no whole cubin", std::move(evidence));
}

/// The bytes at `offset`, or nothing where they are not all inside `image`.
std::optional<std::string_view> part(std::string_view image, std::uint64_t offset, std::uint64_t bytes) {
    if (offset > image.size() || bytes > image.size() - offset) return std::nullopt;
    return image.substr(offset, bytes);
}

template <class T>
std::optional<T> read(std::string_view image, std::uint64_t offset) {
    const auto bytes = part(image, offset, sizeof(T));
    if (!bytes) return std::nullopt;
    T value;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
}

/// The text up to its terminator, or to the end of the table where that is missing.
std::string_view name_at(std::string_view names, std::uint32_t offset) {
    if (offset >= names.size()) return {};
    const std::string_view rest = names.substr(offset);
    return rest.substr(0, rest.find('\0'));
}

void add_kernels(std::string_view symbols, std::string_view names, std::vector<std::string>& kernels) {
    for (std::size_t at = 0; at + sizeof(ElfSymbol) <= symbols.size(); at += sizeof(ElfSymbol)) {
        const auto symbol = *read<ElfSymbol>(symbols, at);
        const bool is_kernel =
            (symbol.information & 0xFU) == kSymbolTypeFunction && (symbol.other & kSymbolIsEntry) != 0;
        if (!is_kernel || symbol.section == 0) continue;
        if (const std::string_view name = name_at(names, symbol.name); !name.empty())
            kernels.emplace_back(name);
    }
}

} // namespace

Result<std::vector<std::string>> kernels_of_cubin(std::string_view cubin) {
    const auto header = read<ElfHeader>(cubin, 0);
    if (!header) return damaged_cubin("it is shorter than an ELF header");
    if (header->magic != kElfMagic || header->elf_class != kElfClass64)
        return damaged_cubin("it does not begin as a 64-bit ELF file does");
    if (header->machine != kElfMachineCuda) return damaged_cubin("it is an ELF file for another machine");
    std::vector<std::string> kernels;
    if (header->section_table_offset == 0) return kernels;
    if (header->section_entry_bytes != sizeof(ElfSection))
        return damaged_cubin("its section headers have another size");
    const auto first = read<ElfSection>(cubin, header->section_table_offset);
    if (!first) return damaged_cubin("its section table lies outside of it");
    const std::uint64_t count = header->section_count != 0 ? header->section_count : first->bytes;
    if (count > cubin.size() / sizeof(ElfSection))
        return damaged_cubin("its section table is longer than it is");
    const auto table = part(cubin, header->section_table_offset, count * sizeof(ElfSection));
    if (!table) return damaged_cubin("its section table ends outside of it");
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto section = *read<ElfSection>(*table, i * sizeof(ElfSection));
        if (section.type != kSectionTypeSymbols) continue;
        const auto symbols = part(cubin, section.offset, section.bytes);
        const auto strings = read<ElfSection>(*table, std::uint64_t{section.link} * sizeof(ElfSection));
        const auto names = strings ? part(cubin, strings->offset, strings->bytes) : std::nullopt;
        if (!symbols || !names) return damaged_cubin("its symbol table lies outside of it");
        add_kernels(*symbols, *names, kernels);
    }
    return kernels;
}

} // namespace deepjit::ingest
