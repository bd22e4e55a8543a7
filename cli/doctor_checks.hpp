#pragma once

#include "cli/doctor_report.hpp"
#include "cli/launch_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace deepjit::cli {

/// Every check of `deepjit doctor`, in the order in which one builds on another.
std::vector<CheckResult> run_doctor_checks();

// Pure parts, for tests.

/// `parameters` is /proc/driver/nvidia/params. Profiling counters need root where the driver restricts them;
/// kernel records never do.
CheckResult judge_counter_permission(const std::string& parameters, bool is_root);

/// `paths` is LD_LIBRARY_PATH. The toolkit's stubs stand in for the driver at link time and fail at run time.
CheckResult judge_library_path(const std::string& paths);

/// At least one kernel, each with a time inside [started_ns, ended_ns] of CLOCK_REALTIME, one second of
/// slack.
CheckResult judge_self_test(const LaunchLoopOutcome& outcome, std::int64_t started_ns, std::int64_t ended_ns);

} // namespace deepjit::cli
