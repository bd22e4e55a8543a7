#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace deepjit::ingest {

/// Decompresses an LZ4 block (the format without frame headers) of `decompressed_bytes`; nothing where it is
/// damaged or of another length. Format: github.com/lz4/lz4, doc/lz4_Block_format.md.
std::optional<std::string> decompress_lz4_block(std::string_view block, std::size_t decompressed_bytes);

} // namespace deepjit::ingest
