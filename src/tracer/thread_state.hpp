#pragma once

#include "src/tracer/locks.hpp"
#include "src/wire/encoder.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace deepjit::tracer {

struct ParameterLayout; // argument_capture.hpp

/// CUDA allows at most 32,764 bytes of kernel parameters (since 12.1).
inline constexpr std::size_t kMaxArgumentBytes = 32'768;

/// A watched driver call that has begun and not returned.
struct OpenCall {
    std::int64_t start_ns = 0;
    std::uint32_t arguments_id = 0;
    std::uint64_t copy_source = 0; ///< of a copy or fill that may become a node; 0 unknown
    std::uint64_t copy_destination = 0;
    bool may_be_captured = false; ///< a launch, copy or fill: it can become a node of a graph
    bool capturing = false;
    bool in_window = true; ///< what is recorded of it besides what graphs hold
    bool changes_node =
        false; ///< adds or changes a node: what it holds are the two addresses or the arguments
};

/// What one thread of the target needs to record without asking another. Zero-filled when fresh; reused by a
/// later thread when its own has ended, never freed.
struct ThreadState {
    ThreadState* next = nullptr; ///< in the list of all; set before it is published
    std::atomic<bool> in_use{false};

    SpinLock lock; ///< guards the three fields below
    std::uint32_t thread_id = 0;
    std::uint32_t used_bytes = 0;
    std::byte records[64 * 1024];

    /// Written by the owning thread alone, read by the flusher.
    std::atomic<std::uint64_t> launches_called{0};
    std::atomic<std::uint64_t> kernels_recorded{0};
    std::atomic<std::uint64_t> zero_timestamps{0};

    // The owning thread's alone.
    static constexpr std::uint32_t kMaxOpenCalls = 8;
    std::uint32_t open_calls = 0;
    OpenCall open_call[kMaxOpenCalls];

    /// How many ranges this thread has open in a domain.
    struct NvtxDepth {
        std::uint32_t domain_id;
        std::uint32_t open_ranges; ///< at least 1
    };
    static constexpr std::uint32_t kMaxNvtxDomains = 32;
    std::uint32_t nvtx_open_domains = 0; ///< entries of nvtx_depth in use
    NvtxDepth nvtx_depth[kMaxNvtxDomains];

    /// A content that was given an id lately.
    struct KnownContent {
        XXH128_hash_t hash;
        std::uint32_t id;
    };
    struct KnownLayout {
        const void* function;
        std::uint64_t generation;
        const ParameterLayout* layout;
    };
    static constexpr std::size_t kKnownArguments = 1024;
    static constexpr std::size_t kKnownLayouts = 256;
    static constexpr std::size_t kKnownNames = 512;
    KnownContent known_arguments[kKnownArguments];
    KnownContent known_names[kKnownNames];
    KnownLayout known_layouts[kKnownLayouts];
    std::byte argument_bytes[kMaxArgumentBytes];
    std::uint32_t argument_bytes_used = 0; ///< by the launch whose arguments were saved last; 0 unknown
};

inline void increment(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace deepjit::tracer
