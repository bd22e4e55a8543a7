#include "cli/terminal.hpp"

#include "src/base/files.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace deepjit::cli {
namespace {

constexpr std::size_t kWidthOfAPipe = 80;
constexpr std::size_t kNarrowest = 40;
constexpr std::string_view kBoldRed = "1;31";
constexpr std::string_view kBoldYellow = "1;33";
constexpr std::string_view kBold = "1";
constexpr std::string_view kPlain = "";

constexpr std::string_view kErrorLabel = "error: ";
constexpr std::string_view kCauseLabel = "  cause: ";
constexpr std::string_view kHintLabel = "  hint: ";
constexpr std::string_view kContinued = "    ";

extern "C" void ignore_signal(int) {}

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

bool is_forced_by(const char* name) {
    const std::string_view value = environment(name);
    return !value.empty() && value != "0";
}

/// 0 where nothing says: $COLUMNS is no number, and the descriptor is no terminal.
std::size_t columns_of(int descriptor) {
    const std::string_view columns = environment("COLUMNS");
    std::size_t width = 0;
    std::from_chars(columns.data(), columns.data() + columns.size(), width);
    if (width == 0) {
        winsize size{};
        if (::isatty(descriptor) && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    }
    return width == 0 ? 0 : std::max(width, kNarrowest);
}

/// Returns errno, 0 for success.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

} // namespace

std::optional<Diagnostic> printed_error(std::string_view standard_error) {
    std::optional<Diagnostic> found;
    std::string* part = nullptr; // that a continued line belongs to
    while (!standard_error.empty()) {
        const std::size_t end = std::min(standard_error.find('\n'), standard_error.size());
        const std::string_view line = standard_error.substr(0, end);
        if (line.starts_with(kErrorLabel)) {
            found = failure(std::string(line.substr(kErrorLabel.size())));
            part = &found->message;
        } else if (part != nullptr && line.starts_with(kContinued)) {
            part->append(" ").append(line.substr(kContinued.size()));
        } else if (part != nullptr && line.starts_with(kCauseLabel)) {
            part = &(found->evidence = line.substr(kCauseLabel.size()));
        } else if (part != nullptr && line.starts_with(kHintLabel)) {
            part = &(found->hint = line.substr(kHintLabel.size()));
        } else {
            part = nullptr;
        }
        standard_error.remove_prefix(std::min(end + 1, standard_error.size()));
    }
    return found;
}

Terminal::Terminal() {
    // A reader that goes away must give an error from write(), not end this process. A handler does that and,
    // unlike SIG_IGN, is not inherited by the programs that this one starts.
    struct sigaction current {};
    if (sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
        struct sigaction handled {};
        handled.sa_handler = ignore_signal;
        handled.sa_flags = SA_RESTART;
        sigaction(SIGPIPE, &handled, nullptr);
    }
}

void Terminal::result(std::string_view text) {
    if (result_errno_ == 0) result_errno_ = write_all(STDOUT_FILENO, text);
}

Result<void> Terminal::deliver(std::string_view text, const std::filesystem::path& output) {
    if (output.empty() || output == "-") {
        result(text);
        return {};
    }
    DEEPJIT_CHECK(write_file_atomically(output, text));
    note(fmt::format("wrote {}", output.string()));
    return {};
}

std::optional<Diagnostic> Terminal::result_error() const {
    if (result_errno_ == 0) return std::nullopt;
    std::string hint;
    if (result_errno_ == ENOSPC || result_errno_ == EDQUOT)
        hint = "free some space, or send the result to another disk";
    return failure("the result could not be written to stdout", system_error_text(result_errno_), hint);
}

void Terminal::note(std::string_view text) {
    print_wrapped("", kPlain, text);
}

void Terminal::warn(const Diagnostic& diagnostic) {
    print_diagnostic("warning: ", kBoldYellow, diagnostic);
}

void Terminal::error(const Diagnostic& diagnostic) {
    print_diagnostic(kErrorLabel, kBoldRed, diagnostic);
}

void Terminal::next_command(std::string_view command_line) {
    print_lines("next: ", kBold, command_line);
}

void Terminal::print_diagnostic(std::string_view label, std::string_view sgr, const Diagnostic& diagnostic) {
    print_wrapped(label, sgr, diagnostic.message);
    if (!diagnostic.evidence.empty()) print_wrapped(kCauseLabel, kPlain, diagnostic.evidence);
    if (!diagnostic.hint.empty()) print_wrapped(kHintLabel, kPlain, diagnostic.hint);
}

void Terminal::print_wrapped(std::string_view label, std::string_view sgr, std::string_view text) {
    const std::size_t columns = columns_of(STDERR_FILENO);
    if (columns == 0) return print_lines(label, sgr, text);
    const std::size_t usable = columns - std::min(line_prefix_.size(), columns / 2);
    print_lines(label, sgr, wrap_words(text, usable - kContinued.size(), usable - label.size()));
}

void Terminal::print_lines(std::string_view label, std::string_view sgr, std::string_view text) {
    const bool colored = !sgr.empty() && stderr_has_color();
    std::string out;
    bool first = true;
    while (first || !text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += line_prefix_;
        if (!first)
            out += kContinued; // so that a name with a newline in it cannot pass for a line of ours
        else if (colored)
            out += fmt::format("\x1b[{}m{}\x1b[0m", sgr, label);
        else
            out += label;
        out += printable(text.substr(0, end));
        out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
        first = false;
    }
    write_all(STDERR_FILENO, out); // where stderr is gone too there is nobody left to tell
}

std::size_t Terminal::width() const {
    const std::size_t columns = columns_of(STDOUT_FILENO);
    return columns == 0 ? kWidthOfAPipe : columns;
}

bool Terminal::has_color(int descriptor) const {
    if (color_choice_ != ColorChoice::Auto) return color_choice_ == ColorChoice::Always;
    if (!environment("NO_COLOR").empty()) return false;
    if (is_forced_by("CLICOLOR_FORCE") || is_forced_by("FORCE_COLOR")) return true;
    return ::isatty(descriptor) == 1 && environment("TERM") != "dumb";
}

bool Terminal::stdout_has_color() const {
    return has_color(STDOUT_FILENO);
}

bool Terminal::stderr_has_color() const {
    return has_color(STDERR_FILENO);
}

} // namespace deepjit::cli
