#pragma once

#include "src/wire/records.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

/// Header-only, allocates nothing and throws nothing: the tracer uses it inside the target.
namespace deepjit::wire {

inline std::uint32_t checksum_of(const void* payload, std::size_t bytes) noexcept {
    return static_cast<std::uint32_t>(XXH3_64bits(payload, bytes));
}

/// Bytes that `append` will take for a tail of `tail_bytes`.
template <WireRecord Record>
constexpr std::size_t encoded_bytes(std::size_t tail_bytes = 0) noexcept {
    return sizeof(Record) + std::min(tail_bytes, kMaxTailBytes);
}

/// Writes `record` and `tail` at `destination`, which holds encoded_bytes() bytes; fills in the header.
/// Returns the bytes written.
template <WireRecord Record>
std::size_t encode(std::byte* destination, Record record, std::string_view tail = {}) noexcept {
    const std::size_t tail_bytes = std::min(tail.size(), kMaxTailBytes);
    const std::size_t size = sizeof(Record) + tail_bytes;
    record.header.kind = Record::kKind;
    record.header.size_bytes = static_cast<std::uint16_t>(size);
    std::memcpy(destination, &record, sizeof(Record));
    if (tail_bytes != 0) std::memcpy(destination + sizeof(Record), tail.data(), tail_bytes);
    return size;
}

/// The header of the block whose payload is `payload`.
inline BlockHeader block_header(std::uint32_t thread_id, std::span<const std::byte> payload) noexcept {
    BlockHeader header;
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    header.thread_id = thread_id;
    header.checksum = checksum_of(payload.data(), payload.size());
    return header;
}

} // namespace deepjit::wire
