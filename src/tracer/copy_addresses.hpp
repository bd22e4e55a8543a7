#pragma once

#include "src/tracer/watched_calls.hpp"

#include <cstdint>

namespace deepjit::tracer {

/// Where a copy or fill begins; 0 unknown, as in an array.
struct CopyAddresses {
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
};

/// The addresses of a copy or fill call of one piece, from its parameters. Nothing for other calls.
CopyAddresses copy_addresses(CallForm form, const void* raw) noexcept;

CopyAddresses copy_addresses(const CUDA_MEMCPY3D& copy) noexcept;

/// Records the addresses of a call, of every piece where it makes several copies.
void record_copy_addresses(CallForm form, const CUpti_CallbackData& data) noexcept;

} // namespace deepjit::tracer
