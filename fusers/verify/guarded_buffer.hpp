#pragma once

#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/graph/chain_graph.hpp"
#include "src/graph/interpreter.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace deepjit::verify {

/// Device memory of a tensor between two guards of known bytes, so that a write past either end is seen.
class GuardedBuffer {
  public:
    /// Bytes on each side. More than any kernel's vector step can overrun.
    static constexpr std::size_t kGuardBytes = 16'384;

    /// The tensor starts `shift_bytes` behind a multiple of 256. Everything holds the guard byte.
    static Result<GuardedBuffer> allocate(std::size_t bytes, std::size_t shift_bytes);

    std::uint64_t address() const { return buffer_.address() + begin_; }
    std::size_t bytes() const { return bytes_; }

    /// `values` repeated over `tensor`, whose size this buffer must have.
    Result<void> upload(const graph::Tensor& tensor, const graph::Values& values);
    Result<std::vector<std::byte>> download() const;
    /// Everything holds the guard byte again, so that a kernel that writes nothing is not taken for the last
    /// one.
    Result<void> reset();
    /// Guard bytes that hold something else than they did.
    Result<std::int64_t> changed_guard_bytes() const;

  private:
    gpu::DeviceBuffer buffer_;
    std::size_t begin_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace deepjit::verify
