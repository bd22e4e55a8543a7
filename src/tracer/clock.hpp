#pragma once

#include <cstdint>

#include <time.h>

namespace deepjit::tracer {

/// CLOCK_REALTIME, which is also the clock of CUPTI's records on Linux.
inline std::int64_t now_ns() noexcept {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace deepjit::tracer
