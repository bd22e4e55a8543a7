#pragma once

#include <cstdint>

namespace deepjit::analyzers {

/// Thresholds of the verdict. All are options of `deepjit advise`, and all are printed.
struct AdviseOptions {
    double short_kernel_ns = 5e3;     ///< a kernel below this is short
    double short_launch_share = 0.5;  ///< part 1: least share of launches that are short
    double short_time_share = 0.2;    ///< part 1: least share of GPU time in short kernels
    double exposed_gap_share = 0.2;   ///< part 2: least share of the frame's span in exposed gaps
    double inflation = 2.0;           ///< part 3: least bytes moved ÷ compulsory bytes, logical
    double worthwhile_share = 0.05;   ///< least share of the frame that a change must save
    double host_work_ns = 50e3;       ///< host time without a call that is more than dispatching a kernel
    double fuse_cost_ns = 2e9;        ///< compiling, checking and tuning one fused kernel, once
    std::int64_t minimum_frames = 3;  ///< fewer repeats are no period
    std::int64_t escape_frames = 100; ///< frames in which escapes are checked, at most
};

} // namespace deepjit::analyzers
