#include "src/tracer/size_limit.hpp"

#include "src/tracer/clock.hpp"

#include <cstdio>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

constexpr std::int64_t kMeasuringPeriod_ns = 250'000'000;

/// Of the plain files in `directory` but `own_inode`.
std::uint64_t bytes_in(const char* directory, ino_t own_inode) noexcept {
    DIR* const listing = opendir(directory);
    if (listing == nullptr) return 0;
    std::uint64_t bytes = 0;
    while (const dirent* const entry = readdir(listing)) {
        struct stat status {};
        if (fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_ino != own_inode)
            bytes += static_cast<std::uint64_t>(status.st_size);
    }
    closedir(listing);
    return bytes;
}

} // namespace

void SizeLimit::open(const char* directory, std::uint64_t max_bytes) noexcept {
    max_bytes_ = max_bytes;
    other_bytes_ = 0;
    measured_at_ns_ = 0;
    std::snprintf(directory_, sizeof directory_, "%s", directory);
}

bool SizeLimit::is_exceeded_by(std::uint64_t own_bytes, ino_t own_inode) noexcept {
    if (max_bytes_ == 0) return false;
    const std::int64_t now = now_ns();
    // The clock may have been set back.
    if (now - measured_at_ns_ >= kMeasuringPeriod_ns || now < measured_at_ns_) {
        measured_at_ns_ = now;
        other_bytes_ = bytes_in(directory_, own_inode);
    }
    return own_bytes + other_bytes_ > max_bytes_;
}

} // namespace deepjit::tracer
