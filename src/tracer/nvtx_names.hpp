#pragma once

#include "src/tracer/thread_state.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace deepjit::tracer {

/// `text` as UTF-8, at the start of `buffer`; characters that are none become U+FFFD, and what does not fit
/// is cut. `text` may be null: then nothing.
std::string_view utf8_of(const wchar_t* text, std::span<char> buffer) noexcept;

// What the program names once and refers to later. `state` is the calling thread's. An id of 0: no memory.
std::uint32_t register_nvtx_string(ThreadState& state, std::string_view text) noexcept;
std::uint32_t create_nvtx_domain(ThreadState& state, std::string_view name) noexcept;
void name_nvtx_category(ThreadState& state, std::uint32_t domain_id, std::uint32_t category,
                        std::string_view name) noexcept;

/// In a forked child that begins a recording of its own: defines there what the parent has named, since the
/// child holds the same handles.
void define_nvtx_again() noexcept;

} // namespace deepjit::tracer
