#pragma once

#include "cli/command.hpp"

#include <memory>
#include <vector>

namespace deepjit::cli {

/// All commands in the order in which the help lists them. A new one is a line in commands.cpp.
std::vector<std::unique_ptr<Command>> all_commands();

} // namespace deepjit::cli
