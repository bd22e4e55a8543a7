#include "src/gpu/context.hpp"

#include "src/gpu/driver_functions.hpp"

#include <fmt/format.h>

namespace deepjit::gpu {
namespace {

Result<void> check_range(std::size_t bytes, std::size_t offset, std::size_t size) {
    if (offset <= size && bytes <= size - offset) return {};
    return failure(fmt::format("a copy of {} bytes at offset {} does not fit a buffer of {} bytes", bytes,
                               offset, size));
}

} // namespace

Result<Context> Context::retain_primary(int device_index) {
    DEEPJIT_TRY(DeviceFacts facts, device_facts(device_index));
    Context context;
    context.device_ = std::move(facts);
    DEEPJIT_CHECK(DEEPJIT_CU(cuDevicePrimaryCtxRetain, &context.handle_, device_index));
    DEEPJIT_CHECK(context.make_current());
    return context;
}

Context::Context(Context&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), device_(std::move(other.device_)) {}

Context& Context::operator=(Context&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(device_, other.device_);
    return *this;
}

Context::~Context() {
    if (handle_ != nullptr) (void)DEEPJIT_CU(cuDevicePrimaryCtxRelease, device_.index);
}

Result<void> Context::make_current() const {
    return DEEPJIT_CU(cuCtxSetCurrent, handle_);
}

Result<void> Context::synchronize() const {
    return DEEPJIT_CU(cuCtxSynchronize);
}

Result<DeviceBuffer> DeviceBuffer::allocate(std::size_t bytes) {
    DeviceBuffer buffer;
    buffer.bytes_ = bytes;
    if (bytes == 0) return buffer;
    CUdeviceptr address = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuMemAlloc, &address, bytes));
    buffer.address_ = address;
    return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

DeviceBuffer::~DeviceBuffer() {
    if (address_ != 0) (void)DEEPJIT_CU(cuMemFree, static_cast<CUdeviceptr>(address_));
}

Result<void> DeviceBuffer::upload(std::span<const std::byte> source, std::size_t offset) {
    DEEPJIT_CHECK(check_range(source.size(), offset, bytes_));
    if (source.empty()) return {};
    return DEEPJIT_CU(cuMemcpyHtoD, static_cast<CUdeviceptr>(address_ + offset), source.data(),
                      source.size());
}

Result<void> DeviceBuffer::download(std::span<std::byte> destination, std::size_t offset) const {
    DEEPJIT_CHECK(check_range(destination.size(), offset, bytes_));
    if (destination.empty()) return {};
    return DEEPJIT_CU(cuMemcpyDtoH, destination.data(), static_cast<CUdeviceptr>(address_ + offset),
                      destination.size());
}

Result<void> DeviceBuffer::fill(std::uint8_t value) {
    if (bytes_ == 0) return {};
    return DEEPJIT_CU(cuMemsetD8, static_cast<CUdeviceptr>(address_), static_cast<unsigned char>(value),
                      bytes_);
}

} // namespace deepjit::gpu
