#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace deepjit::tracer {

/// Zero-filled bytes of a size known at run time. Says so where there is no memory, instead of throwing.
class ByteBlock {
  public:
    ByteBlock() noexcept = default;
    ByteBlock(ByteBlock&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    ByteBlock& operator=(ByteBlock&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~ByteBlock() { std::free(data_); }

    /// Replaces what was there.
    bool allocate(std::size_t size) noexcept {
        std::free(data_);
        data_ = static_cast<std::uint8_t*>(std::calloc(size, 1));
        size_ = data_ != nullptr ? size : 0;
        return data_ != nullptr;
    }

    std::uint8_t* data() noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace deepjit::tracer
