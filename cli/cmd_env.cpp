#include "cli/cmd_env.hpp"

#include "cli/recording_options.hpp"
#include "cli/run_facts.hpp"
#include "cli/run_folder.hpp"
#include "cli/trace_output.hpp"
#include "cli/tracer_library.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deepjit::cli {
namespace fs = std::filesystem;
namespace {

std::string shell_lines(const Variables& variables) {
    std::string text;
    for (const auto& [name, value] : variables)
        text += fmt::format("export {}={}\n", name, shell_word(value));
    return text;
}

/// Options of `docker run`; both folders keep their paths inside the container.
std::string docker_options(const Variables& variables, const fs::path& tracer, const fs::path& run_folder) {
    std::string text;
    for (const auto& [name, value] : variables)
        text += fmt::format("--env {}={} ", name, shell_word(value));
    const std::string library_folder = tracer.parent_path().string();
    return text + fmt::format("--volume {} --volume {}\n",
                              shell_word(run_folder.string() + ":" + run_folder.string()),
                              shell_word(library_folder + ":" + library_folder + ":ro"));
}

std::string as_json(const Variables& variables, const fs::path& run_folder) {
    nlohmann::ordered_json environment = nlohmann::ordered_json::object();
    for (const auto& [name, value] : variables)
        environment[name] = value;
    const nlohmann::ordered_json document = {
        {"schema_version", 1}, {"run_folder", run_folder.string()}, {"environment", std::move(environment)}};
    return document.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

class EnvCommand : public Command {
  public:
    std::string_view name() const override { return "env"; }
    std::string_view description() const override {
        return "Print the variables that make a program record itself";
    }
    std::string_view examples() const override {
        return "eval \"$(deepjit env -o run)\"; ./server; deepjit import run\n"
               "docker run $(deepjit env -o run --format docker) --gpus all IMAGE";
    }
    void add_options(CLI::App& app) override {
        app.add_option("-o,--output", folder_, "Run folder to make; 'deepjit import' turns it into a trace")
            ->type_name("DIR")
            ->required();
        app.add_option("--format", format_, "shell: export lines (default); json; docker: options of its run")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"shell", "json", "docker"}));
        recording_.add_to(app);
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const fs::path tracer, find_tracer_library());
        std::error_code error;
        const fs::path run_folder = fs::absolute(folder_, error).lexically_normal();
        // The options are read before a folder is made.
        DEEPJIT_TRY(const Variables variables,
                    recording_.variables(tracer, run_folder, RecordingOptions::StartedBy::Somebody));
        DEEPJIT_CHECK(make_run_folder(run_folder));
        DEEPJIT_CHECK(save_run_facts(run_folder, run_facts("deepjit env")));
        if (format_ == "json")
            terminal.result(as_json(variables, run_folder));
        else if (format_ == "docker")
            terminal.result(docker_options(variables, tracer, run_folder));
        else
            terminal.result(shell_lines(variables));
        terminal.next_command("deepjit import " + shell_word(folder_.string()));
        return ExitCode::Done;
    }

  private:
    fs::path folder_;
    std::string format_ = "shell";
    RecordingOptions recording_;
};

} // namespace

std::unique_ptr<Command> make_env_command() {
    return std::make_unique<EnvCommand>();
}

} // namespace deepjit::cli
