#include "cli/cmd_profile.hpp"

#include "cli/capture_plan.hpp"
#include "cli/descendants.hpp"
#include "cli/import_report.hpp"
#include "cli/machine_calibration.hpp"
#include "cli/option_values.hpp"
#include "cli/recording_options.hpp"
#include "cli/run_facts.hpp"
#include "cli/run_folder.hpp"
#include "cli/signal_guard.hpp"
#include "cli/stub_driver.hpp"
#include "cli/trace_output.hpp"
#include "cli/tracer_library.hpp"
#include "src/base/files.hpp"
#include "src/base/subprocess.hpp"
#include "src/base/units.hpp"
#include "src/ingest/kernel_traffic_summary.hpp"
#include "src/trace/trace.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace deepjit::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCapturePlanVariable = "DEEPJIT_TRACER_CAPTURE_PLAN";
constexpr const char* kCapturePlanName = "capture-plan.bin";

class ProfileCommand : public Command {
  public:
    std::string_view name() const override { return "profile"; }
    std::string_view description() const override { return "Run a program and record what its GPU did"; }
    std::string_view examples() const override {
        return "deepjit profile -- ./infer --batch 1\n"
               "deepjit profile -o trace.db --force -- python3 model.py";
    }
    std::string_view line_prefix() const override { return "deepjit: "; }
    ExitCode failure_code(ErrorKind) const override { return ExitCode::ProfileFailed; }

    void add_options(CLI::App& app) override {
        app.add_option("-o,--output", output_, "Trace to write; default: trace.db, then trace-2.db")
            ->type_name("FILE");
        app.add_flag("--force", force_, "Replace the trace if it exists");
        app.add_flag("--no-calibrate", no_calibration_, "Do not measure this machine's launch costs");
        app.add_option(
               "--wait", wait_,
               "When to finish the trace: the program's end (primary, default), or that of all that it "
               "started, daemons included (all)")
            ->type_name("WHOM")
            ->check(CLI::IsMember({"primary", "all"}));
        app.add_flag("--store-command", store_command_, "Keep the command line in the trace");
        recording_.add_to(app);
        app.add_flag("--traffic", traffic_,
                     "Run the program a second time, with counters: DRAM and L2 bytes of each kernel");
        app.add_option("--capture", capture_,
                       "Save the buffers that this chain of --from finds and leaves, in one of its runs")
            ->type_name("CHAIN");
        app.add_option("--from", capture_from_, "Earlier trace of the program, whose chains advise numbered")
            ->type_name("TRACE");
        app.add_option("--short", short_,
                       "Kernels below this are short, as for the 'advise' that numbered them")
            ->type_name("TIME")
            ->capture_default_str();
        app.add_option("--capture-limit", capture_limit_, "Buffers to save at most before and after, in MiB")
            ->type_name("MIB")
            ->capture_default_str();
        app.add_option("program", target_, "Program to run and its arguments, after --")
            ->type_name("CMD")
            ->required();
        app.positionals_at_end(); // what follows the program's name is its own, options included
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_CHECK(refuse_second_tracer());
        DEEPJIT_TRY(const std::string plan, read_capture_options());
        DEEPJIT_TRY(const fs::path trace_path, choose_trace_path(output_, force_));
        DEEPJIT_TRY(const fs::path tracer, find_tracer_library());
        constexpr auto kStarter = RecordingOptions::StartedBy::ThisProcess;
        DEEPJIT_CHECK(recording_.variables(tracer, {}, kStarter)); // before there is anything to remove
        DEEPJIT_TRY(const fs::path run_folder, make_temporary_directory("deepjit-run"));

        if (!plan.empty()) DEEPJIT_CHECK(write_file_atomically(run_folder / kCapturePlanName, plan));

        const SignalGuard finish_the_trace;
        std::optional<Descendants> descendants;
        if (wait_ == "all") descendants.emplace();
        deepjit::Command command;
        command.arguments = target_;
        DEEPJIT_TRY(command.environment, recording_.variables(tracer, run_folder, kStarter));
        if (!plan.empty())
            command.environment.emplace_back(kCapturePlanVariable, (run_folder / kCapturePlanName).string());
        const auto ended = deepjit::run(command);
        if (const auto* not_started = std::get_if<StartError>(&ended)) {
            remove(run_folder);
            terminal.error(not_started->diagnostic);
            return exit_code_of_start_failure(not_started->reason);
        }
        const ExitStatus status = std::get<Finished>(ended).status;
        if (status.signal != 0)
            terminal.note(fmt::format("the program was ended by signal {}", status.signal));
        if (descendants) descendants->wait_for_all(run_folder);

        if (traffic_) measure_traffic(terminal, tracer, run_folder, status);
        ingest::RunFacts facts = run_facts("deepjit profile");
        facts.meta.emplace_back(trace::meta_key::kTargetStatus, std::to_string(status.as_shell_code()));
        if (store_command_) facts.meta.emplace_back(trace::meta_key::kCommand, command_line());
        if (!no_calibration_ && holds_recording_of_cuda(run_folder)) calibrate(terminal, facts);
        const auto still_running = running_processes(run_folder);
        auto summary = ingest::import_run_folder(run_folder, trace_path, facts);
        if (!summary) {
            terminal.error(summary.error());
            (void)save_run_facts(run_folder, facts); // the recording is whole without them
            terminal.note(fmt::format("the recording is kept in {}", run_folder.string()));
            terminal.next_command(fmt::format("deepjit import {} -o {}", shell_word(run_folder.string()),
                                              shell_word(trace_path.string())));
            return ExitCode::ProfileFailed;
        }
        remove(run_folder);
        summary->capture.asked_for = !plan.empty();
        RecordingOutcome outcome = judge_recording(*summary, still_running);
        if (!still_running.empty()) {
            outcome.warnings.push_back(explain_running_processes(still_running));
            outcome.warnings.back().hint = "--wait all waits until the program's children have ended, too";
        }
        if (outcome.state == RecordingState::DriverNotInitialised) warn_of_stub_driver(outcome);
        report_import(terminal, *summary, outcome, trace_path);
        if (outcome.state == RecordingState::RecordsMissing) return outcome.explanation;
        return exit_code_of_target(status.as_shell_code());
    }

  private:
    /// The plan for the tracer; empty where nothing is to be captured.
    Result<std::string> read_capture_options() const {
        if (capture_.empty() && capture_from_.empty()) return std::string();
        if (capture_.empty())
            return usage_error("--from needs --capture CHAIN", {}, "see its chains with 'deepjit advise'");
        if (capture_from_.empty())
            return usage_error("--capture needs --from TRACE", {},
                               "record the program once, and let 'deepjit advise' number its chains");
        DEEPJIT_TRY(const std::int64_t number, parse_count("--capture", capture_));
        DEEPJIT_TRY(const std::int64_t limit_mib, parse_count("--capture-limit", capture_limit_));
        constexpr std::int64_t kMostMib = std::int64_t{1} << 20U;
        constexpr std::int64_t kMostChains = 1'000'000;
        DEEPJIT_TRY(const double short_kernel_ns, parse_duration_ns(short_));
        return capture_plan(capture_from_, static_cast<int>(std::min(number, kMostChains)), short_kernel_ns,
                            static_cast<std::uint64_t>(std::min(limit_mib, kMostMib)) << 20U);
    }

    static Result<void> refuse_second_tracer() {
        for (const char* variable : {kInjectionVariable, kNvtxInjectionVariable}) {
            const char* other = std::getenv(variable);
            if (other == nullptr || *other == '\0') continue;
            return environment_error(
                fmt::format("{} is set, so another profiler would be attached as well", variable),
                fmt::format("its value is '{}'", other),
                fmt::format("unset it: env -u {} deepjit profile ...", variable));
        }
        return {};
    }

    static void warn_of_stub_driver(RecordingOutcome& outcome) {
        const char* const library_path = std::getenv("LD_LIBRARY_PATH");
        const auto stub = stub_driver_in(library_path != nullptr ? library_path : "");
        if (stub)
            outcome.warnings.push_back(failure(
                "a stub of the CUDA driver comes first on the library path", stub->string(),
                "take its folder out of LD_LIBRARY_PATH: it is there to link against, and cannot run anything"));
    }

    std::string command_line() const {
        std::string text;
        for (const std::string& word : target_)
            text += (text.empty() ? "" : " ") + shell_word(word);
        return text;
    }

    /// Runs the program again. Its recordings go into a folder of their own in the run folder.
    void measure_traffic(Terminal& terminal, const fs::path& tracer, const fs::path& run_folder,
                         const ExitStatus& first_status) const {
        if (!holds_recording_of_cuda(run_folder)) return;
        if (first_status.as_shell_code() != 0)
            return terminal.warn(
                failure("memory traffic was not measured: the program was not run again",
                        fmt::format("it ended with status {}", first_status.as_shell_code())));
        const fs::path counters_folder = run_folder / ingest::kTrafficFolder;
        std::error_code error;
        if (!fs::create_directory(counters_folder, error))
            return terminal.warn(
                failure("memory traffic was not measured: no folder for its recording", error.message()));
        terminal.note("running the program again, to measure its memory traffic");
        deepjit::Command again;
        again.arguments = target_;
        again.environment = recording_.variables_for_counters(tracer, counters_folder);
        const auto ended = deepjit::run(again);
        if (const auto* not_started = std::get_if<StartError>(&ended))
            return terminal.warn(not_started->diagnostic);
        const int status = std::get<Finished>(ended).status.as_shell_code();
        if (status != 0)
            terminal.warn(failure("the program failed when it was run again with counters",
                                  fmt::format("it ended with status {}, and with 0 the first time", status)));
    }

    /// After the program, so that the two do not share the GPU.
    static void calibrate(Terminal& terminal, ingest::RunFacts& facts) {
        const auto calibration = calibration_for_this_machine();
        if (calibration)
            add_calibration(facts, *calibration);
        else
            terminal.warn(explain_missing_calibration(calibration.error()));
    }

    static Diagnostic explain_missing_calibration(const Diagnostic& error) {
        const std::string evidence =
            error.evidence.empty() ? error.message : error.message + ": " + error.evidence;
        const std::string remedy = error.hint.empty() ? "'deepjit doctor' says what is missing" : error.hint;
        return failure("the launch costs of this machine were not measured", evidence,
                       remedy + "; --no-calibrate leaves it out");
    }

    static ExitCode exit_code_of_start_failure(StartFailure reason) {
        if (reason == StartFailure::NotFound) return ExitCode::TargetNotFound;
        if (reason == StartFailure::NotExecutable) return ExitCode::TargetNotExecutable;
        return ExitCode::ProfileFailed;
    }

    static void remove(const fs::path& run_folder) {
        std::error_code ignored;
        fs::remove_all(run_folder, ignored);
    }

    fs::path output_;
    bool force_ = false;
    bool no_calibration_ = false;
    RecordingOptions recording_;
    std::string capture_;
    fs::path capture_from_;
    std::string short_ = kDefaultShort;
    std::string capture_limit_ = "256";
    bool traffic_ = false;
    std::string wait_ = "primary";
    bool store_command_ = false;
    std::vector<std::string> target_;
};

} // namespace

std::unique_ptr<Command> make_profile_command() {
    return std::make_unique<ProfileCommand>();
}

} // namespace deepjit::cli
