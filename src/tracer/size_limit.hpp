#pragma once

#include <cstdint>

#include <limits.h>
#include <sys/types.h>

namespace deepjit::tracer {

/// How large the files of a run folder may become together. This process's recording is counted exactly; what
/// else lies in the folder (recordings of other processes, device code) as it was up to a quarter of a second
/// ago. Not thread-safe: the lock on the recording's file guards it.
class SizeLimit {
  public:
    /// `max_bytes` 0: no limit.
    void open(const char* directory, std::uint64_t max_bytes) noexcept;

    /// Whether the folder would be too large with this process's recording, the file `own_inode`, of
    /// `own_bytes`.
    bool is_exceeded_by(std::uint64_t own_bytes, ino_t own_inode) noexcept;

  private:
    std::uint64_t max_bytes_ = 0;
    std::uint64_t other_bytes_ = 0;
    std::int64_t measured_at_ns_ = 0;
    char directory_[PATH_MAX] = {};
};

} // namespace deepjit::tracer
