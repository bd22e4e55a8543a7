#pragma once

#include <cstddef>
#include <cstdint>

namespace deepjit::tracer {

/// 0, or errno of the first write that failed.
int write_all(int file, const void* bytes, std::size_t count) noexcept;

/// A write beyond RLIMIT_FSIZE would kill the target with SIGXFSZ.
bool exceeds_file_size_limit(std::uint64_t bytes) noexcept;

} // namespace deepjit::tracer
