#pragma once

#include "cli/command.hpp"

#include <memory>

namespace deepjit::cli {

/// Checks what deepjit needs of this machine. Exit code 0, or 4 when a check failed.
std::unique_ptr<Command> make_doctor_command();

} // namespace deepjit::cli
