#pragma once

#include "src/base/result.hpp"

#include <filesystem>

namespace deepjit::cli {

/// The library that CUDA loads into the target: $DEEPJIT_TRACER, else ../lib/deepjit beside the executable,
/// which is where both the build tree and an installation keep it.
Result<std::filesystem::path> find_tracer_library();

} // namespace deepjit::cli
