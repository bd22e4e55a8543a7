#include "src/tracer/file_writing.hpp"

#include <cerrno>

#include <sys/resource.h>
#include <unistd.h>

namespace deepjit::tracer {

int write_all(int file, const void* bytes, std::size_t count) noexcept {
    auto* at = static_cast<const char*>(bytes);
    while (count > 0) {
        const ssize_t written = ::write(file, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : EIO;
        at += written;
        count -= static_cast<std::size_t>(written);
    }
    return 0;
}

bool exceeds_file_size_limit(std::uint64_t bytes) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

} // namespace deepjit::tracer
