#pragma once

#include <filesystem>

namespace deepjit::cli {

/// Whether a process has written a recording into the folder: it used CUDA or NVTX. False also for a folder
/// that cannot be read.
bool holds_recording(const std::filesystem::path& run_folder);

/// Whether one of the recordings is of a process that initialised CUDA; a recording that does not tell
/// counts.
bool holds_recording_of_cuda(const std::filesystem::path& run_folder);

} // namespace deepjit::cli
