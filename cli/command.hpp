#pragma once

#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"
#include "src/base/result.hpp"

#include <string_view>

namespace CLI {
class App;
}

namespace deepjit::cli {

/// One word of the command line: `deepjit NAME …`. Its options are its members, bound by add_options().
class Command {
  public:
    virtual ~Command() = default;

    virtual std::string_view name() const = 0;
    /// One line for the list of commands, without a full stop.
    virtual std::string_view description() const = 0;
    /// Command lines for the end of the help text, one a line.
    virtual std::string_view examples() const = 0;
    /// Declares options and positionals. Every one has a description.
    virtual void add_options(CLI::App& app) = 0;

    /// Does the work. Results go to terminal.result(), all else to the other members of Terminal. An error
    /// that is returned is printed by the caller, and the exit code is failure_code() of it.
    virtual Result<ExitCode> run(Terminal& terminal) = 0;

    /// `profile` has codes of its own, because its target may return any of the usual ones.
    virtual ExitCode failure_code(ErrorKind kind) const { return exit_code_of(kind); }
    /// Commands that deepjit runs itself, as a child, are neither listed nor suggested.
    virtual bool is_internal() const { return name().starts_with("internal-"); }
    /// Before each of this command's lines on stderr: `profile` shares the terminal with its target.
    virtual std::string_view line_prefix() const { return {}; }
};

} // namespace deepjit::cli
