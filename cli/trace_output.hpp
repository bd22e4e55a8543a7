#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string>

namespace deepjit::cli {

/// Where a new trace goes. An empty `asked_for` takes the first free name of trace.db, trace-2.db, … in the
/// current folder. Refuses an existing file without `overwrite`, and a folder that cannot be written to,
/// before anything has been recorded.
Result<std::filesystem::path> choose_trace_path(const std::filesystem::path& asked_for, bool overwrite);

/// `word` as a shell takes it for one argument.
std::string shell_word(const std::string& word);

} // namespace deepjit::cli
