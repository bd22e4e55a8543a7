#pragma once

#include <filesystem>

namespace deepjit::cli {

/// Whether a process has written a recording into the folder: it initialised CUDA. False also for a folder
/// that cannot be read.
bool holds_recording(const std::filesystem::path& run_folder);

} // namespace deepjit::cli
