#pragma once

#include "src/base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace deepjit::cli {

enum class ColorChoice { Auto, Always, Never };

/// What Terminal::error() printed into `standard_error`, without colour or prefix: the last one where there
/// are several, absent where there is none.
std::optional<Diagnostic> printed_error(std::string_view standard_error);

/// The only place that prints. stdout carries results and nothing else; stderr carries notes, warnings,
/// errors and the next command. Text that reaches stderr is made safe to print here, and broken into lines
/// where stderr is a terminal or $COLUMNS is set; elsewhere, in a log, a sentence stays one line. The next
/// command is never broken, since it is to be copied.
class Terminal {
  public:
    Terminal();

    void set_color(ColorChoice choice) { color_choice_ = choice; }
    /// Put before each line on stderr.
    void set_line_prefix(std::string_view prefix) { line_prefix_ = prefix; }

    /// Writes to stdout as it is. A failure is kept for result_error().
    void result(std::string_view text);
    /// Writes a result where `-o` says: to stdout for an empty path or "-", else to the file, atomically, and
    /// says so on stderr.
    Result<void> deliver(std::string_view text, const std::filesystem::path& output);

    void note(std::string_view text);
    void warn(const Diagnostic& diagnostic);
    void error(const Diagnostic& diagnostic);
    /// "next: deepjit advise trace.db"
    void next_command(std::string_view command_line);

    /// Why stdout could not take the result (a full disk, a reader that went away), if it could not.
    std::optional<Diagnostic> result_error() const;

    /// Columns for text on stdout: $COLUMNS, else the terminal's, else 80.
    std::size_t width() const;
    /// --color, else NO_COLOR, else CLICOLOR_FORCE or FORCE_COLOR, else a terminal that is not "dumb".
    bool stdout_has_color() const;
    bool stderr_has_color() const;

  private:
    bool has_color(int descriptor) const;
    void print_diagnostic(std::string_view label, std::string_view sgr, const Diagnostic& diagnostic);
    void print_wrapped(std::string_view label, std::string_view sgr, std::string_view text);
    void print_lines(std::string_view label, std::string_view sgr, std::string_view text);

    ColorChoice color_choice_ = ColorChoice::Auto;
    std::string line_prefix_;
    int result_errno_ = 0;
};

} // namespace deepjit::cli
