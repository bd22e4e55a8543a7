#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deepjit::ingest {

/// One piece of device code in a fat binary.
struct FatBinaryEntry {
    enum class Kind { Ptx, Cubin, Other } kind = Kind::Other;
    std::uint32_t architecture = 0; ///< 90 for sm_90 or compute_90
    std::string code;               ///< decompressed; empty where kind is Other
};

/// The entries of a fat binary, or of several one after another. Compressed entries (LZ4 until CUDA 12.8, and
/// Zstandard) are decompressed. Every offset is checked: what lies outside is an error, never a read. The
/// layout is not documented by NVIDIA; it was found by comparing nvcc's outputs (13.0) byte for byte.
Result<std::vector<FatBinaryEntry>> read_fat_binary(std::string_view fat_binary);

} // namespace deepjit::ingest
