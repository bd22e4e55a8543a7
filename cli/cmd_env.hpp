#pragma once

#include "cli/command.hpp"

#include <memory>

namespace deepjit::cli {

std::unique_ptr<Command> make_env_command();

} // namespace deepjit::cli
