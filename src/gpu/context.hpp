#pragma once

#include "src/gpu/driver.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct CUctx_st;

namespace deepjit::gpu {

/// The primary context of one device, retained while the object lives. It is the one that the CUDA runtime
/// and PyTorch use, so memory and modules are shared with them.
class Context {
  public:
    /// Also makes it current on the calling thread.
    static Result<Context> retain_primary(int device_index = 0);
    Context(Context&& other) noexcept;
    Context& operator=(Context&& other) noexcept;
    ~Context();

    /// Every other object of this room must be used on a thread where its context is current.
    Result<void> make_current() const;
    Result<void> synchronize() const;
    const DeviceFacts& device() const { return device_; }
    CUctx_st* handle() const { return handle_; }

  private:
    Context() = default;
    CUctx_st* handle_ = nullptr;
    DeviceFacts device_;
};

/// Device memory. Addresses are multiples of 256 bytes (the driver's guarantee for cuMemAlloc).
class DeviceBuffer {
  public:
    /// 0 bytes are allowed and give the address 0.
    static Result<DeviceBuffer> allocate(std::size_t bytes);
    DeviceBuffer() = default;
    DeviceBuffer(DeviceBuffer&& other) noexcept;
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
    ~DeviceBuffer();

    std::uint64_t address() const { return address_; }
    std::size_t bytes() const { return bytes_; }

    /// Copies block the host; a range outside the buffer is refused.
    Result<void> upload(std::span<const std::byte> source, std::size_t offset = 0);
    Result<void> download(std::span<std::byte> destination, std::size_t offset = 0) const;
    Result<void> fill(std::uint8_t value);

  private:
    std::uint64_t address_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace deepjit::gpu
