#include "cli/machine_calibration.hpp"

#include "cli/launch_loop.hpp"
#include "cli/tracer_library.hpp"
#include "src/base/files.hpp"
#include "src/base/hash.hpp"
#include "src/gpu/copy_bandwidth.hpp"
#include "src/gpu/driver.hpp"
#include "src/gpu/grid_barrier.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace deepjit::cli {
namespace {

namespace fs = std::filesystem;
using gpu::Calibration;
using gpu::Measured;

constexpr int kWarmUpLaunches = 50'000;
/// Each process costs half a second and more, most of it the driver's start.
constexpr int kQuickRounds = 4;
constexpr int kCompleteRounds = 5;

/// A way to run the loop of launches: with no tracer, or with one that leaves something out.
struct Recording {
    const char* left_out = nullptr; ///< variable that tells the tracer so
    std::optional<Measured> Calibration::*launch_ns = nullptr;
    std::optional<Measured> Calibration::*graph_ns = nullptr;
    std::optional<Measured> Calibration::*graph_node_ns = nullptr;
};
constexpr Recording kDefaultRecording = {nullptr, &Calibration::tracer_launch_ns,
                                         &Calibration::tracer_graph_ns, &Calibration::tracer_graph_node_ns};
constexpr Recording kKernelsAlone = {"DEEPJIT_TRACER_NO_CALLS", &Calibration::tracer_launch_kernels_ns};
constexpr Recording kWithoutArguments = {"DEEPJIT_TRACER_NO_ARGUMENTS", &Calibration::tracer_launch_calls_ns};
constexpr Recording kGraphLevel = {"DEEPJIT_TRACER_GRAPH_LEVEL", nullptr, &Calibration::tracer_graph_level_ns,
                                   &Calibration::tracer_graph_level_node_ns};

std::string identity_of(const fs::path& tracer_library) {
    const auto contents = read_file(tracer_library);
    return contents ? hash_hex(*contents) : std::string();
}

fs::path file_of(const Calibration& machine) {
    const std::string key =
        machine.device_uuid + "\n" + machine.driver_version + "\n" + machine.tracer_identity;
    return user_cache_directory() / "calibration" / (hash_hex(key) + ".json");
}

bool same_machine(const Calibration& a, const Calibration& b) {
    return a.device_uuid == b.device_uuid && a.driver_version == b.driver_version &&
           a.tracer_identity == b.tracer_identity;
}

/// The names alone of what is measured, and the tracer it is measured with.
struct Machine {
    Calibration names;
    Result<fs::path> tracer;
};

Result<Machine> this_machine() {
    DEEPJIT_TRY(const gpu::DeviceFacts device, gpu::device_facts(0));
    Machine machine{{}, find_tracer_library()};
    machine.names.device_uuid = device.uuid;
    machine.names.driver_version = device.driver_version();
    if (machine.tracer) machine.names.tracer_identity = identity_of(*machine.tracer);
    return machine;
}

std::optional<Calibration> stored_for(const Machine& machine) {
    const auto text = read_file(file_of(machine.names));
    if (!text) return std::nullopt;
    const auto stored = gpu::calibration_from_json(*text);
    if (!stored || !same_machine(*stored, machine.names)) return std::nullopt;
    return *stored;
}

Result<void> store(const Calibration& calibration) {
    const fs::path path = file_of(calibration);
    DEEPJIT_CHECK(make_private_directory(path.parent_path()));
    return write_file_atomically(path, gpu::to_json(calibration));
}

Result<LaunchLoopOutcome> launch_empty_kernels(const Recording* recording, const fs::path* tracer) {
    LaunchLoop loop;
    loop.measurement.with_graphs = true;
    loop.measurement.warm_up_launches = kWarmUpLaunches;
    if (recording != nullptr) {
        loop.tracer_library = *tracer;
        if (recording->left_out != nullptr) loop.tracer_options.emplace_back(recording->left_out, "1");
    }
    return run_launch_loop(loop);
}

using Figure = std::optional<Measured> Calibration::*;

/// Over processes: each is one of the kind of program that will be profiled.
std::optional<Measured> over_processes(const std::vector<Calibration>& processes, Figure figure) {
    std::vector<double> values;
    for (const Calibration& process : processes)
        if (process.*figure) values.push_back((process.*figure)->typical);
    if (values.empty()) return std::nullopt;
    return gpu::spread_of(std::move(values));
}

/// What a tracer adds to a figure. Not below zero: processes differ by more than some of these costs.
std::optional<Measured> added(const std::vector<Calibration>& traced,
                              const std::vector<Calibration>& untraced, Figure figure) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < std::min(traced.size(), untraced.size()); ++i)
        if (traced[i].*figure && untraced[i].*figure)
            differences.push_back((traced[i].*figure)->typical - (untraced[i].*figure)->typical);
    const auto with = over_processes(traced, figure);
    const auto without = over_processes(untraced, figure);
    if (differences.empty() || !with || !without) return std::nullopt;
    Measured measured = gpu::spread_of(std::move(differences));
    measured.typical = std::max(0.0, with->typical - without->typical);
    measured.low = std::max(0.0, std::min(measured.low, measured.typical));
    measured.high = std::max(measured.high, measured.typical);
    return measured;
}

/// Whether the loop ran as it was meant to: without records, what was measured is no tracing.
bool was_recorded(const LaunchLoopOutcome& outcome, const Recording& recording) {
    const bool graphs_as_a_whole = recording.launch_ns == nullptr;
    return !outcome.kernels.empty() && (!graphs_as_a_whole || outcome.graph_launches > 0);
}

Diagnostic why_not_recorded(const Result<LaunchLoopOutcome>& outcome) {
    constexpr const char* kWhat = "the cost of the tracer was not measured";
    constexpr const char* kRemedy = "'deepjit doctor' checks the driver, CUPTI and the tracer one by one";
    if (!outcome) return environment_error(kWhat, outcome.error().message, outcome.error().hint);
    return environment_error(
        kWhat, outcome->tracer_error.empty() ? "its records did not arrive" : outcome->tracer_error, kRemedy);
}

/// Runs each kind once a round, the rounds forwards and backwards in turn, which cancels a steady drift. A
/// kind that fails in the first round is given up; later, only that process is. Returns why a tracer's figure
/// is absent.
Result<std::optional<Diagnostic>> measure_launches(const Machine& machine,
                                                   const std::vector<Recording>& recordings, int rounds,
                                                   Calibration& calibration) {
    const std::size_t kinds = machine.tracer ? recordings.size() + 1 : 1; // the first has no tracer
    std::vector<std::vector<Calibration>> processes(kinds);
    std::optional<Diagnostic> failed;
    if (!machine.tracer) failed = machine.tracer.error();
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < kinds; ++turn) {
            const std::size_t kind = round % 2 == 0 ? turn : kinds - 1 - turn;
            if (round > 0 && processes[kind].empty()) continue;
            const Recording* const recording = kind == 0 ? nullptr : &recordings[kind - 1];
            auto outcome = launch_empty_kernels(recording, machine.tracer ? &*machine.tracer : nullptr);
            if (!outcome && kind == 0) return outcome.error();
            if (kind == 0 || (outcome && was_recorded(*outcome, *recording)))
                processes[kind].push_back(std::move(outcome->costs));
            else if (processes[kind].empty())
                failed = why_not_recorded(outcome);
        }
    }
    for (const Figure figure :
         {&Calibration::stream_launch_ns, &Calibration::graph_intercept_ns, &Calibration::graph_node_ns,
          &Calibration::graph_wall_intercept_ns, &Calibration::graph_wall_node_ns})
        calibration.*figure = over_processes(processes[0], figure);
    for (std::size_t kind = 1; kind < kinds; ++kind) {
        if (processes[kind].empty()) continue;
        const Recording& recording = recordings[kind - 1];
        const auto set = [&](Figure result, Figure figure) {
            if (result != nullptr) calibration.*result = added(processes[kind], processes[0], figure);
        };
        set(recording.launch_ns, &Calibration::stream_launch_ns);
        set(recording.graph_ns, &Calibration::graph_wall_intercept_ns);
        set(recording.graph_node_ns, &Calibration::graph_wall_node_ns);
    }
    return failed;
}

} // namespace

Result<Calibration> calibration_for_this_machine() {
    DEEPJIT_TRY(const Machine machine, this_machine());
    if (auto stored = stored_for(machine)) return *std::move(stored);
    Calibration calibration = machine.names;
    DEEPJIT_TRY(const auto failed, measure_launches(machine, {kDefaultRecording}, kQuickRounds, calibration));
    // One that lacks the tracer, or cannot be stored, is measured again next time; that is all.
    if (!failed) (void)store(calibration);
    return calibration;
}

Result<std::optional<Calibration>> stored_calibration() {
    DEEPJIT_TRY(const Machine machine, this_machine());
    return stored_for(machine);
}

Result<CompleteCalibration> calibrate_completely(const std::function<void(std::string_view)>& on_step) {
    DEEPJIT_TRY(const Machine machine, this_machine());
    CompleteCalibration complete;
    Calibration& calibration = complete.calibration;
    calibration = machine.names;
    const auto lacks = [&](const char* what, const Diagnostic& error) {
        complete.not_measured.push_back(
            failure(what, error.evidence.empty() ? error.message : error.message + ": " + error.evidence,
                    error.hint));
    };
    on_step("launches, with the tracer and without");
    DEEPJIT_TRY(const auto tracer_failed,
                measure_launches(machine, {kKernelsAlone, kWithoutArguments, kDefaultRecording, kGraphLevel},
                                 kCompleteRounds, calibration));
    if (tracer_failed) complete.not_measured.push_back(*tracer_failed);
    on_step("copies within the device");
    if (auto copies = gpu::measure_copies(0))
        calibration.copies = *std::move(copies);
    else
        lacks("copies were not measured", copies.error());
    on_step("barriers between blocks");
    if (auto barriers = gpu::measure_grid_barriers(0))
        calibration.barriers = *std::move(barriers);
    else
        lacks("barriers were not measured", barriers.error());
    if (tracer_failed) return complete;
    if (const auto stored = store(calibration))
        complete.stored_at = file_of(calibration);
    else
        complete.not_stored = stored.error();
    return complete;
}

} // namespace deepjit::cli
