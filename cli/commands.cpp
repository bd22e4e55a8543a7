#include "cli/commands.hpp"

namespace deepjit::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
    std::vector<std::unique_ptr<Command>> commands;
    return commands;
}

} // namespace deepjit::cli
