#pragma once

#include <cstdint>

/// The file that asks the tracer to save the buffers of a chain: a header, then the steps, launches that
/// follow each other in one stream. A chain of which a frame has several alike is told from them by what
/// comes before. `deepjit profile
/// --capture` writes it, the tracer reads it.
namespace deepjit::wire {

#pragma pack(push, 1)

struct CapturePlanHeader {
    static constexpr std::uint32_t kMagic = 0x5041'434A; // "JCAP"
    std::uint32_t magic = kMagic;
    std::uint32_t version = 1;
    std::uint32_t step_count = 0;  ///< that follow
    std::uint32_t lead_count = 0;  ///< of the steps, those before the chain, which tell where it runs
    std::uint64_t limit_bytes = 0; ///< saved before the chain at most, and again after it
};

/// One launch of the chain or of its lead, in their order.
struct CapturePlanStep {
    std::uint64_t name_hash = 0; ///< XXH3-64 of the mangled name
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
};

#pragma pack(pop)

inline constexpr std::uint32_t kMaxCaptureSteps = 4096;

} // namespace deepjit::wire
