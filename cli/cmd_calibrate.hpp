#pragma once

#include "cli/command.hpp"

#include <memory>

namespace deepjit::cli {

/// `deepjit calibrate`.
std::unique_ptr<Command> make_calibrate_command();

} // namespace deepjit::cli
