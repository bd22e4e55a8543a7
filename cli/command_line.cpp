#include "cli/command_line.hpp"

#include "cli/help.hpp"
#include "cli/suggestion.hpp"

#include <CLI/CLI.hpp>

namespace deepjit::cli {
namespace {

ColorChoice color_choice_of(std::string_view word) {
    if (word == "always") return ColorChoice::Always;
    return word == "never" ? ColorChoice::Never : ColorChoice::Auto;
}

void add_common_options(CLI::App& app, std::string& color) {
    app.set_help_flag("-h,--help", "Print this help");
    app.add_option("--color", color, "Colour: auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN");
}

} // namespace

ExitCode run_command_line(int argc, const char* const* argv,
                          const std::vector<std::unique_ptr<Command>>& commands, Terminal& terminal) {
    std::string color;
    CLI::App app("Find out whether a CUDA program spends its time launching kernels; fuse them.", "deepjit");
    app.formatter(std::make_shared<HelpFormatter>(terminal.width()));
    app.set_version_flag("--version", "deepjit " DEEPJIT_VERSION)->description("Print the version");
    add_common_options(app, color);
    app.footer(std::string(kOverview));
    app.require_subcommand(1);
    for (const auto& command : commands) {
        CLI::App* sub = app.add_subcommand(std::string(command->name()), std::string(command->description()));
        sub->group(command->is_internal() ? "" : "Commands"); // CLI11 lists no command without a group
        add_common_options(*sub, color);
        command->add_options(*sub);
        sub->footer(help_footer(command->examples()));
    }
    const auto chosen = [&]() -> Command* {
        for (const auto& command : commands)
            if (app.got_subcommand(std::string(command->name()))) return command.get();
        return nullptr;
    };

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        terminal.result(app.help());
        return ExitCode::Done;
    } catch (const CLI::CallForVersion& version) {
        terminal.result(std::string(version.what()) + "\n");
        return ExitCode::Done;
    } catch (const CLI::ParseError& error) {
        const Command* command = chosen();
        if (command != nullptr) terminal.set_line_prefix(command->line_prefix());
        terminal.error(explain_parse_error(app, error));
        return command == nullptr ? ExitCode::Usage : command->failure_code(ErrorKind::Usage);
    }

    Command* command = chosen();
    terminal.set_color(color_choice_of(color));
    terminal.set_line_prefix(command->line_prefix());
    const auto code = command->run(terminal);
    if (code) return *code;
    terminal.error(code.error());
    return command->failure_code(code.error().kind);
}

} // namespace deepjit::cli
