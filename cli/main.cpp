#include "cli/command_line.hpp"
#include "cli/commands.hpp"

#include <exception>

int main(int argc, char** argv) {
    using namespace deepjit;
    cli::Terminal terminal;
    cli::ExitCode code = cli::ExitCode::Failed;
    try {
        code = cli::run_command_line(argc, argv, cli::all_commands(), terminal);
    } catch (const std::exception& exception) {
        terminal.error(failure("deepjit failed in a way that it did not expect", exception.what(),
                               "please report it with the command line"));
        return static_cast<int>(cli::ExitCode::Failed);
    }
    if (const auto unwritten = terminal.result_error()) {
        terminal.error(*unwritten);
        if (code == cli::ExitCode::Done) code = cli::ExitCode::Failed;
    }
    return static_cast<int>(code);
}
