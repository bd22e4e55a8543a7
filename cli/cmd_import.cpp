#include "cli/cmd_import.hpp"

#include "cli/import_report.hpp"
#include "cli/run_facts.hpp"
#include "cli/run_folder.hpp"
#include "cli/trace_output.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace deepjit::cli {
namespace fs = std::filesystem;
namespace {

class ImportCommand : public Command {
  public:
    std::string_view name() const override { return "import"; }
    std::string_view description() const override {
        return "Turn the run folder of 'env', or a left-over one, into a trace";
    }
    std::string_view examples() const override {
        return "deepjit import run -o trace.db\n"
               "deepjit import /tmp/deepjit-run.k3Jx0a -o trace.db";
    }
    void add_options(CLI::App& app) override {
        app.add_option("folder", folder_, "Run folder made by 'deepjit env' or left by 'deepjit profile'")
            ->type_name("FOLDER")
            ->required();
        app.add_option("-o,--output", output_, "Trace to write; default: trace.db, then trace-2.db")
            ->type_name("FILE");
        app.add_flag("--force", force_, "Replace the trace if it exists");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const fs::path trace_path, choose_trace_path(output_, force_));
        std::error_code error;
        if (!fs::is_directory(folder_, error))
            return usage_error(fmt::format("'{}' is not a folder", folder_.string()),
                               error ? error.message() : "", kExpectedFolder);
        if (!holds_recording(folder_))
            return usage_error(fmt::format("the folder '{}' holds no recording", folder_.string()),
                               "no file in it ends in .djw",
                               made_by_env() ? "no program that has its variables has initialised CUDA yet; "
                                               "check that they reach the process that uses the GPU"
                                             : kExpectedFolder);
        const auto still_running = running_processes(folder_);
        ingest::RunFacts facts = run_facts("deepjit import");
        DEEPJIT_CHECK(add_saved_facts(folder_, facts));
        DEEPJIT_TRY(const ingest::ImportSummary summary,
                    ingest::import_run_folder(folder_, trace_path, facts));
        RecordingOutcome outcome = judge_recording(summary, still_running);
        if (!still_running.empty()) {
            outcome.warnings.push_back(explain_running_processes(still_running));
            outcome.warnings.back().hint = "import the folder again when it has ended";
        }
        report_import(terminal, summary, outcome, trace_path);
        if (outcome.state == RecordingState::RecordsMissing) terminal.warn(outcome.explanation);
        return ExitCode::Done;
    }

  private:
    static constexpr const char* kExpectedFolder =
        "give the run folder of 'deepjit env', or the one that 'deepjit profile' named when it failed";

    bool made_by_env() const {
        std::error_code error;
        return fs::exists(folder_ / "run.json", error);
    }

    fs::path folder_;
    fs::path output_;
    bool force_ = false;
};

} // namespace

std::unique_ptr<Command> make_import_command() {
    return std::make_unique<ImportCommand>();
}

} // namespace deepjit::cli
