#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string>

namespace deepjit::cli {

/// Where a new trace goes. An empty `asked_for` takes the first free name of trace.db, trace-2.db, … in the
/// current folder. Refuses, before anything has been recorded, an existing file without `overwrite`, what
/// cannot hold a trace (a device, a pipe), and a folder that cannot be written to.
Result<std::filesystem::path> choose_trace_path(const std::filesystem::path& asked_for, bool overwrite);

/// `word` as a shell takes it for one argument.
std::string shell_word(const std::string& word);

} // namespace deepjit::cli
