#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace deepjit::cli {

/// Makes a folder for recordings that only its owner can read. One that is there already must be empty and
/// this user's; a link is refused.
Result<void> make_run_folder(const std::filesystem::path& run_folder);

/// Whether a process has written a recording into the folder: it used CUDA or NVTX. False also for a folder
/// that cannot be read.
bool holds_recording(const std::filesystem::path& run_folder);

/// Whether one of the recordings is of a process that initialised CUDA; a recording that does not tell
/// counts.
bool holds_recording_of_cuda(const std::filesystem::path& run_folder);

/// The processes that still write to recordings in the folder: each holds a lock on its own. 0 for one whose
/// id this system does not know (it runs in another container).
std::vector<std::int64_t> running_processes(const std::filesystem::path& run_folder);

} // namespace deepjit::cli
