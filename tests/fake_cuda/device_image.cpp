#include "tests/fake_cuda/device_image.hpp"

#include "src/base/image_format.hpp"

#include <algorithm>
#include <cctype>

namespace fake_cuda {
namespace {

using namespace deepjit::image_format;

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool is_ptx_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '$';
    });
}

/// The 64 bytes that head an entry of a fat binary.
std::string entry_header(std::uint16_t kind, std::uint64_t payload_bytes) {
    std::string header;
    append(header, kind);
    append(header, std::uint16_t{0x101});
    append(header, std::uint32_t{64});
    append(header, payload_bytes);
    append(header, std::uint64_t{0}); // not compressed, no options
    append(header, std::uint32_t{0}); // version of the code
    append(header, std::uint32_t{90});
    header.resize(64);
    return header;
}

} // namespace

std::string ptx_with(const std::vector<std::string>& kernels) {
    std::string text = "//\n// For tests\n//\n.version 8.0\n.target sm_90\n.address_size 64\n";
    for (const std::string& name : kernels)
        if (is_ptx_name(name)) text += ".visible .entry " + name + "()\n{\n  ret;\n}\n";
    return text;
}

std::string cubin_with(const std::vector<std::string>& kernels) {
    std::string names(1, '\0');
    std::string symbols;
    append(symbols, ElfSymbol{});
    for (const std::string& name : kernels) {
        ElfSymbol symbol{};
        symbol.name = static_cast<std::uint32_t>(names.size());
        symbol.information = 0x12; // global, function
        symbol.other = 0x10;       // kernel
        symbol.section = 1;
        append(symbols, symbol);
        names += name + '\0';
    }
    ElfHeader header{};
    header.magic = kElfMagic;
    header.elf_class = kElfClass64;
    header.machine = kElfMachineCuda;
    header.header_bytes = sizeof header;
    header.section_table_offset = sizeof header + symbols.size() + names.size();
    header.section_entry_bytes = sizeof(ElfSection);
    header.section_count = 3;
    ElfSection symbol_section{};
    symbol_section.type = kSectionTypeSymbols;
    symbol_section.offset = sizeof header;
    symbol_section.bytes = symbols.size();
    symbol_section.link = 2;
    ElfSection name_section{};
    name_section.type = 3;
    name_section.offset = sizeof header + symbols.size();
    name_section.bytes = names.size();
    std::string cubin;
    append(cubin, header);
    cubin += symbols + names;
    append(cubin, ElfSection{});
    append(cubin, symbol_section);
    append(cubin, name_section);
    return cubin;
}

std::string fat_binary_with(const std::vector<std::string>& kernels) {
    const std::string cubin = cubin_with(kernels);
    const std::string ptx = ptx_with(kernels);
    const std::string payload = entry_header(2, cubin.size()) + cubin + entry_header(1, ptx.size()) + ptx;
    FatBinaryHeader header{};
    header.magic = FatBinaryHeader::kMagic;
    header.version = 1;
    header.header_bytes = sizeof header;
    header.payload_bytes = payload.size();
    std::string image;
    append(image, header);
    return image + payload;
}

} // namespace fake_cuda
