#include "cli/trace_output.hpp"

#include "src/base/files.hpp"
#include "src/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace deepjit::cli {
namespace fs = std::filesystem;

Result<fs::path> choose_trace_path(const fs::path& asked_for, bool overwrite) {
    std::error_code ignored;
    fs::path path = asked_for;
    if (path.empty()) {
        path = "trace.db";
        for (int number = 2; fs::exists(fs::symlink_status(path, ignored)); ++number)
            path = fmt::format("trace-{}.db", number);
    } else if (fs::is_directory(path, ignored)) {
        return usage_error(fmt::format("'{}' is a folder", path.string()), {},
                           fmt::format("give a file name: -o {}", shell_word((path / "trace.db").string())));
    }
    DEEPJIT_TRY(const fs::path destination, trace::trace_destination(path));
    if (fs::exists(path, ignored) && !overwrite)
        return usage_error(fmt::format("'{}' exists already", path.string()), {},
                           "choose another name with -o, or replace it with --force");
    const fs::path folder = destination.has_parent_path() ? destination.parent_path() : fs::path(".");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        return failure(fmt::format("cannot write a trace to the folder '{}'", folder.string()),
                       system_error_text(errno), "choose a folder that you may write to with -o");
    return path;
}

std::string shell_word(const std::string& word) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_-./+,:@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

} // namespace deepjit::cli
