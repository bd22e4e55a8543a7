#pragma once

#include "cli/command.hpp"

#include <memory>
#include <vector>

namespace deepjit::cli {

/// Reads the arguments, runs the command that they name, prints its error if there is one. Arguments that
/// cannot be understood are a usage error with a suggestion where a word looks like a typo.
ExitCode run_command_line(int argc, const char* const* argv,
                          const std::vector<std::unique_ptr<Command>>& commands, Terminal& terminal);

} // namespace deepjit::cli
