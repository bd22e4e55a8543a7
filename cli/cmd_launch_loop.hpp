#pragma once

#include "cli/command.hpp"

#include <memory>

namespace deepjit::cli {

/// Not in the help: `deepjit internal-launch-loop` is the child that calibration and the self-test of doctor
/// run, with and without the tracer. Prints a gpu::Calibration as JSON.
std::unique_ptr<Command> make_launch_loop_command();

inline constexpr const char* kLaunchLoopCommand = "internal-launch-loop";

} // namespace deepjit::cli
