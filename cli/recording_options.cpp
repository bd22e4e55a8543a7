#include "cli/recording_options.hpp"

#include "cli/option_values.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace deepjit::cli {

namespace {

constexpr std::string_view kFrameDefinition =
    "A frame ends where the program, having launched something, waits for the device";

} // namespace

// The names of the tracer's variables; src/tracer/README.md describes them.

void RecordingOptions::add_to(CLI::App& app) {
    app.add_flag("--graph-level", graph_level_,
                 "Record each launch of a CUDA Graph as a whole, without its kernels: cheaper");
    app.add_flag("--no-modules", no_modules_, "Do not store the device code that the program loads");
    CLI::Option* const include_children =
        app.add_flag("--include-children", include_children_,
                     "Record the processes that the program starts, too: the default");
    app.add_flag("--no-children", no_children_, "Record the program alone, not the processes that it starts")
        ->excludes(include_children);
    app.add_option("--skip", skip_, "Record nothing until the program has finished this many frames")
        ->type_name("FRAMES");
    app.add_option("--frames", frames_, "Record this many frames. " + std::string(kFrameDefinition))
        ->type_name("N");
    app.add_option("--range", range_,
                   "Record only while an NVTX range of this name is open; --skip and --frames then count its "
                   "occurrences")
        ->type_name("NAME");
    app.add_option("--delay", delay_, "Record nothing for this long after CUDA is initialised: 500ms, 10s")
        ->type_name("TIME");
    app.add_option("--duration", duration_, "Record for this long, to within 50 ms")->type_name("TIME");
    app.add_flag("--start-with-profiler-api", profiler_api_,
                 "Record only between cudaProfilerStart and cudaProfilerStop");
    app.add_option("--max-size", max_size_,
                   "Stop recording, not the program, when the recording is this large; default: 4GiB")
        ->type_name("BYTES");
}

Result<Variables> RecordingOptions::variables(const std::filesystem::path& tracer,
                                              const std::filesystem::path& run_folder,
                                              StartedBy starter) const {
    DEEPJIT_TRY(const std::int64_t max_bytes, parse_bytes("--max-size", max_size_));
    Variables variables = {{kInjectionVariable, tracer.string()},
                           {kNvtxInjectionVariable, tracer.string()},
                           {"DEEPJIT_RUN_DIR", run_folder.string()},
                           {"DEEPJIT_TRACER_MAX_BYTES", std::to_string(max_bytes)}};
    DEEPJIT_CHECK(add_window(variables));
    add_processes(variables, starter);
    if (no_modules_) variables.emplace_back("DEEPJIT_TRACER_NO_MODULES", "1");
    if (graph_level_) variables.emplace_back("DEEPJIT_TRACER_GRAPH_LEVEL", "1");
    return variables;
}

void RecordingOptions::add_processes(Variables& variables, StartedBy starter) const {
    if (no_children_)
        variables.emplace_back("DEEPJIT_TRACER_NO_CHILDREN",
                               starter == StartedBy::ThisProcess ? std::to_string(::getpid()) : "1");
}

Variables RecordingOptions::variables_for_counters(const std::filesystem::path& tracer,
                                                   const std::filesystem::path& run_folder) const {
    Variables variables = {{kInjectionVariable, tracer.string()},
                           {"DEEPJIT_RUN_DIR", run_folder.string()},
                           {"DEEPJIT_TRACER_NO_MODULES", "1"},
                           {"DEEPJIT_TRACER_COUNTERS", "1"}};
    add_processes(variables, StartedBy::ThisProcess);
    return variables;
}

Result<void> RecordingOptions::add_window(Variables& variables) const {
    const auto add_time = [&](const char* option, const char* variable,
                              const std::string& text) -> Result<void> {
        if (text.empty()) return {};
        const auto nanoseconds = parse_duration_ns(text);
        if (!nanoseconds || *nanoseconds < 1 || *nanoseconds > 9e18)
            return usage_error(fmt::format("{} cannot be '{}': it takes a time, such as 500ms or 10s", option,
                                           printable(text)));
        variables.emplace_back(variable, fmt::format("{:.0f}", *nanoseconds));
        return {};
    };
    const auto add_count = [&](const char* option, const char* variable,
                               const std::string& text) -> Result<void> {
        if (text.empty()) return {};
        DEEPJIT_TRY(const std::int64_t count, parse_count(option, text));
        variables.emplace_back(variable, std::to_string(count));
        return {};
    };
    DEEPJIT_CHECK(add_count("--skip", "DEEPJIT_TRACER_SKIP_FRAMES", skip_));
    DEEPJIT_CHECK(add_count("--frames", "DEEPJIT_TRACER_FRAMES", frames_));
    DEEPJIT_CHECK(add_time("--delay", "DEEPJIT_TRACER_DELAY_NS", delay_));
    DEEPJIT_CHECK(add_time("--duration", "DEEPJIT_TRACER_DURATION_NS", duration_));
    if (!range_.empty()) variables.emplace_back("DEEPJIT_TRACER_RANGE", range_);
    if (profiler_api_) variables.emplace_back("DEEPJIT_TRACER_PROFILER_API", "1");
    return {};
}

} // namespace deepjit::cli
