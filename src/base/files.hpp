#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace deepjit {

/// The whole file. Errors name the path and the system's reason.
Result<std::string> read_file(const std::filesystem::path& path);

/// The file that writing to `path` reaches: links are followed, also to a target that does not exist yet. An
/// error where they go in a circle.
Result<std::filesystem::path> follow_links(const std::filesystem::path& path);

/// Writes beside `path` and renames over it, so that a full disk or a crash leaves the old file whole. A link
/// is followed; a device or pipe is written through.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Creates `path` and its parents; `path` itself is for the owner alone (0700). A symlink is refused.
Result<void> make_private_directory(const std::filesystem::path& path);

/// A fresh folder for the owner alone, named `prefix` and six random characters, in the system's temporary
/// folder.
Result<std::filesystem::path> make_temporary_directory(std::string_view prefix);

/// The folder for this user's cached files: $DEEPJIT_CACHE_DIR, $XDG_CACHE_HOME/deepjit or ~/.cache/deepjit.
std::filesystem::path user_cache_directory();

/// The running executable, symlinks resolved.
std::filesystem::path executable_path();

/// "No space left on device" for ENOSPC: errno in words.
std::string system_error_text(int error_number);

} // namespace deepjit
