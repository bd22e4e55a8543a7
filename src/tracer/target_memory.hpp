#pragma once

#include <cstddef>

namespace deepjit::tracer {

/// Copies memory of the target that may not be readable throughout, without ever faulting where the kernel
/// allows that. Returns the bytes copied from the start: fewer than `bytes` where what follows cannot be
/// read. Only whole pages are sure to be copied before an unreadable one.
std::size_t copy_target_memory(void* destination, const void* source, std::size_t bytes) noexcept;

} // namespace deepjit::tracer
