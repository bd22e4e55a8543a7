#pragma once

#include "src/base/result.hpp"

namespace deepjit::cli {

/// Every exit code of deepjit. `profile` returns the status of its target besides.
enum class ExitCode : int {
    Done = 0,
    Failed = 1,
    Usage = 2,
    EnvironmentUnfit = 4,   ///< no GPU, no CUPTI, no permission
    VerificationFailed = 5, ///< a fused kernel does not compute what it must
    ProfileFailed = 125,    ///< `profile` itself failed, whatever the target did; as env(1) and timeout(1)
    TargetNotExecutable = 126,
    TargetNotFound = 127,
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::Failed:
        return ExitCode::Failed;
    case ErrorKind::Usage:
        return ExitCode::Usage;
    case ErrorKind::Environment:
        return ExitCode::EnvironmentUnfit;
    case ErrorKind::Verification:
        return ExitCode::VerificationFailed;
    }
    return ExitCode::Failed;
}

/// Status of a target as a shell reports it: its own code, or 128 + signal.
constexpr ExitCode exit_code_of_target(int shell_status) {
    return static_cast<ExitCode>(shell_status);
}

} // namespace deepjit::cli
