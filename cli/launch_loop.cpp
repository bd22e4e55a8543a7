#include "cli/launch_loop.hpp"

#include "cli/cmd_launch_loop.hpp"
#include "cli/terminal.hpp"
#include "src/base/files.hpp"
#include "src/base/subprocess.hpp"
#include "src/base/text.hpp"
#include "src/wire/reader.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unistd.h>

namespace deepjit::cli {
namespace {

namespace fs = std::filesystem;

/// A run takes well under a second; a hanging driver must not hang `profile`.
constexpr double kTimeoutSeconds = 30;

class TemporaryFolder {
  public:
    explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

std::string last_line(std::string_view text) {
    while (!text.empty() && text.back() == '\n')
        text.remove_suffix(1);
    const std::size_t before = text.rfind('\n');
    return printable(before == std::string_view::npos ? text : text.substr(before + 1));
}

/// Why the child failed: its own words, else its status and the last line that it printed.
Diagnostic failure_of_child(const Finished& finished) {
    constexpr std::string_view kWhat = "a program that launches empty kernels failed";
    if (auto said = printed_error(finished.standard_error))
        return environment_error(fmt::format("{}: {}", kWhat, said->message), std::move(said->evidence),
                                 std::move(said->hint));
    std::string evidence = finished.status.signal != 0
                               ? fmt::format("it was ended by signal {}", finished.status.signal)
                               : fmt::format("it returned {}", finished.status.code);
    if (const std::string line = last_line(finished.standard_error); !line.empty())
        evidence += fmt::format("; the last line that it printed: {}", line);
    return environment_error(std::string(kWhat), std::move(evidence));
}

/// What the user's shell tells the tracers of other programs, taken away.
std::vector<std::pair<std::string, std::string>> without_tracer_variables() {
    constexpr std::string_view kPrefix = "DEEPJIT_TRACER_";
    std::vector<std::pair<std::string, std::string>> removed;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.starts_with(kPrefix)) removed.emplace_back(text.substr(0, text.find('=')), "");
    }
    return removed;
}

Result<gpu::Calibration> run_child(const LaunchLoop& loop, const std::string& run_folder) {
    deepjit::Command command;
    command.arguments = {executable_path().string(),
                         kLaunchLoopCommand,
                         "--launches",
                         std::to_string(loop.measurement.launches),
                         "--rounds",
                         std::to_string(loop.measurement.rounds),
                         "--warm-up",
                         std::to_string(loop.measurement.warm_up_launches),
                         "--color=never"};
    if (loop.measurement.with_graphs) command.arguments.emplace_back("--graphs");
    command.environment = without_tracer_variables();
    command.environment.insert(
        command.environment.end(),
        {{"CUDA_INJECTION64_PATH", loop.tracer_library ? loop.tracer_library->string() : ""},
         {"DEEPJIT_RUN_DIR", run_folder}});
    command.environment.insert(command.environment.end(), loop.tracer_options.begin(),
                               loop.tracer_options.end());
    command.capture_output = true;
    command.timeout_seconds = kTimeoutSeconds;
    const auto ended = deepjit::run(command);
    if (const auto* not_started = std::get_if<StartError>(&ended)) return not_started->diagnostic;
    const Finished& finished = std::get<Finished>(ended);
    if (finished.timed_out)
        return environment_error(fmt::format("launching empty kernels took more than {} s", kTimeoutSeconds),
                                 last_line(finished.standard_error), "see whether nvidia-smi answers");
    if (finished.status.as_shell_code() != 0) return failure_of_child(finished);
    return gpu::calibration_from_json(finished.standard_output);
}

void read_recording(const fs::path& file, LaunchLoopOutcome& outcome) {
    const auto contents = read_file(file);
    if (!contents) return;
    auto reader = wire::Reader::over(*contents);
    if (!reader) {
        outcome.tracer_error = reader.error().message;
        return;
    }
    outcome.tracer_started = true;
    while (const auto record = reader->next()) {
        if (record->as<wire::GraphLaunch>()) ++outcome.graph_launches;
        if (const auto kernel = record->as<wire::Kernel>())
            outcome.kernels.push_back({kernel->start_ns, kernel->end_ns});
        if (const auto status = record->as<wire::TracerStatus>()) {
            outcome.cupti_error = status->cupti_result;
            outcome.tracer_error = printable(record->tail<wire::TracerStatus>());
        }
    }
}

} // namespace

Result<LaunchLoopOutcome> run_launch_loop(const LaunchLoop& loop) {
    LaunchLoopOutcome outcome;
    if (!loop.tracer_library) {
        DEEPJIT_TRY(outcome.costs, run_child(loop, ""));
        return outcome;
    }
    DEEPJIT_TRY(fs::path created, make_temporary_directory("deepjit-launch-loop"));
    const TemporaryFolder folder(std::move(created));
    DEEPJIT_TRY(outcome.costs, run_child(loop, folder.path().string()));
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder.path(), error))
        if (entry.path().extension() == wire::kFileExtension) read_recording(entry.path(), outcome);
    return outcome;
}

} // namespace deepjit::cli
