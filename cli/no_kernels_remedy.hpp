#pragma once

#include "cli/exit_code.hpp"
#include "src/model/report.hpp"

#include <string_view>

namespace deepjit::cli {

/// What to do about a trace without kernels.
std::string_view remedy_for(model::NoKernels::Cause cause);

/// What was launched and not recorded is a failure: nobody should take it for "nothing to do".
ExitCode exit_code_of(model::NoKernels::Cause cause);

} // namespace deepjit::cli
