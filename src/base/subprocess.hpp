#pragma once

#include "src/base/result.hpp"

#include <string>
#include <utility>
#include <vector>

namespace deepjit {

/// How a child ended: exactly one of the two is meaningful.
struct ExitStatus {
    int code = 0;   ///< value passed to exit()
    int signal = 0; ///< signal that ended it, or 0
    /// What a shell would report: the code, or 128 + signal.
    int as_shell_code() const { return signal != 0 ? 128 + signal : code; }
};

/// Why a program could not be started, in the terms of env(1) and timeout(1).
enum class StartFailure { NotFound, NotExecutable, Other };

struct StartError {
    StartFailure reason = StartFailure::Other;
    Diagnostic diagnostic;
};

struct Command {
    std::vector<std::string> arguments; ///< arguments[0] is looked up in PATH
    /// Variables set on top of this process's environment; an empty value removes the variable.
    std::vector<std::pair<std::string, std::string>> environment;
    bool capture_output = false; ///< collect stdout and stderr instead of sharing this process's
    double timeout_seconds = 0;  ///< 0: none. On expiry the child is killed.
};

struct Finished {
    ExitStatus status;
    bool timed_out = false;
    std::string standard_output; ///< only with capture_output
    std::string standard_error;  ///< only with capture_output
};

/// Runs the command to its end. SIGINT, SIGTERM, SIGHUP and SIGQUIT that reach this process meanwhile are
/// passed to the child when they were sent to this process alone; a second SIGINT kills it.
std::variant<Finished, StartError> run(const Command& command);

} // namespace deepjit
