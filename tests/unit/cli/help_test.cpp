#include "cli/help.hpp"

#include "cli/commands.hpp"
#include "src/base/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace deepjit::cli {
namespace {

void expect_narrow(const std::string& help, std::size_t columns = 80) {
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(display_width(line), columns) << line;
}

/// As run_command_line() sets a command up.
std::string help_of(Command& command, std::size_t columns) {
    CLI::App app("deepjit");
    app.formatter(std::make_shared<HelpFormatter>(columns));
    CLI::App* sub = app.add_subcommand(std::string(command.name()), std::string(command.description()));
    command.add_options(*sub);
    sub->footer(help_footer(command.examples()));
    return sub->help();
}

TEST(Help, NoLineOfAnyCommandIsWiderThanTheTerminal) {
    const auto commands = all_commands();
    EXPECT_GE(commands.size(), 7U);
    for (const auto& command : commands) {
        for (const std::size_t columns : {80, 60}) {
            const std::string help = help_of(*command, columns);
            EXPECT_NE(help.find("Usage: deepjit " + std::string(command->name())), std::string::npos);
            const std::size_t examples = help.find("Examples:"); // are to be copied, and not wrapped
            expect_narrow(columns == 80 ? help : help.substr(0, examples), columns);
        }
    }
}

TEST(Help, ALongDescriptionContinuesUnderItself) {
    CLI::App app("deepjit");
    app.formatter(std::make_shared<HelpFormatter>(80));
    std::string value;
    app.add_option("--name", value, "one two three four five six seven eight nine ten eleven twelve");
    CLI::App* sub = app.add_subcommand("cut", "a b c d e f g h i j k l m n o p q r s t u v w x y z 1 2 3 4");
    sub->group("Commands");
    const std::string help = app.help();
    EXPECT_NE(help.find("ten\n                          eleven twelve\n"), std::string::npos) << help;
    EXPECT_NE(help.find(" 1\n                          2 3 4\n"), std::string::npos) << help;
    expect_narrow(help);
}

} // namespace
} // namespace deepjit::cli
