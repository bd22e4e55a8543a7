#pragma once

#include "src/tracer/thread_state.hpp"

#include <cstdint>

namespace deepjit::tracer {

/// What an event says beyond its domain.
struct NvtxEvent {
    std::uint32_t name_id = 0; ///< 0 none
    wire::NvtxAttributes attributes;
};

// These run on the target's threads, inside its NVTX calls, while the recording is active. `state` is the
// calling thread's.

/// Returns the 0-based level of the range on its thread and in its domain, or NVTX_NO_PUSH_POP_TRACKING where
/// the thread has ranges open in too many domains for that.
int push_nvtx_range(ThreadState& state, std::uint32_t domain_id, const NvtxEvent& event) noexcept;
/// Returns the level of the range that ends, or -1 where none is open, which is not recorded.
int pop_nvtx_range(ThreadState& state, std::uint32_t domain_id) noexcept;
/// Returns the range's id, never 0.
std::uint64_t start_nvtx_range(ThreadState& state, std::uint32_t domain_id, const NvtxEvent& event) noexcept;
void end_nvtx_range(std::uint64_t range_id) noexcept;
void mark_nvtx(std::uint32_t domain_id, const NvtxEvent& event) noexcept;
void end_nvtx_domain(std::uint32_t domain_id) noexcept;

} // namespace deepjit::tracer
