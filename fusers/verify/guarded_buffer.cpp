#include "fusers/verify/guarded_buffer.hpp"

#include "fusers/verify/repeated_upload.hpp"

#include <algorithm>
#include <span>

namespace deepjit::verify {

namespace {

// As float32, float16 and bfloat16 an unlikely finite value, so that elements never written stand out too.
constexpr std::uint8_t kGuardByte = 0xa5;

std::int64_t count_changed(std::span<const std::byte> guard) {
    return static_cast<std::int64_t>(guard.size()) -
           std::count(guard.begin(), guard.end(), static_cast<std::byte>(kGuardByte));
}

} // namespace

Result<GuardedBuffer> GuardedBuffer::allocate(std::size_t bytes, std::size_t shift_bytes) {
    GuardedBuffer guarded;
    guarded.begin_ = kGuardBytes + shift_bytes;
    guarded.bytes_ = bytes;
    DEEPJIT_TRY(guarded.buffer_, gpu::DeviceBuffer::allocate(guarded.begin_ + bytes + kGuardBytes));
    DEEPJIT_CHECK(guarded.reset());
    return guarded;
}

Result<void> GuardedBuffer::upload(const graph::Tensor& tensor, const graph::Values& values) {
    return upload_repeated(buffer_, begin_, tensor, values);
}

Result<void> GuardedBuffer::reset() {
    return buffer_.fill(kGuardByte);
}

Result<std::vector<std::byte>> GuardedBuffer::download() const {
    std::vector<std::byte> contents(bytes_);
    DEEPJIT_CHECK(buffer_.download(contents, begin_));
    return contents;
}

Result<std::int64_t> GuardedBuffer::changed_guard_bytes() const {
    std::vector<std::byte> before(begin_);
    std::vector<std::byte> behind(kGuardBytes);
    DEEPJIT_CHECK(buffer_.download(before, 0));
    DEEPJIT_CHECK(buffer_.download(behind, begin_ + bytes_));
    return count_changed(before) + count_changed(behind);
}

} // namespace deepjit::verify
