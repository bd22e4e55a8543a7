#include "cli/machine_calibration.hpp"

#include "cli/launch_loop.hpp"
#include "cli/tracer_library.hpp"
#include "src/base/files.hpp"
#include "src/base/hash.hpp"
#include "src/base/statistics.hpp"
#include "src/gpu/driver.hpp"

#include <algorithm>
#include <vector>

namespace deepjit::cli {
namespace {

namespace fs = std::filesystem;

/// Each pair costs two process starts, most of it the driver's.
constexpr int kTracedPairs = 4;
constexpr int kWarmUpLaunches = 50'000;

std::string identity_of(const fs::path& tracer_library) {
    const auto contents = read_file(tracer_library);
    return contents ? hash_hex(*contents) : std::string();
}

fs::path file_of(const gpu::Calibration& machine) {
    const std::string key =
        machine.device_uuid + "\n" + machine.driver_version + "\n" + machine.tracer_identity;
    return user_cache_directory() / "calibration" / (hash_hex(key) + ".json");
}

bool same_machine(const gpu::Calibration& a, const gpu::Calibration& b) {
    return a.device_uuid == b.device_uuid && a.driver_version == b.driver_version &&
           a.tracer_identity == b.tracer_identity;
}

/// Fills in the cost of the tracer and of a launch: medians over processes, since the program that will be
/// profiled is one process more of the same kind. The order untraced, traced, traced, untraced cancels a
/// steady drift.
void measure_tracer(const fs::path& tracer, gpu::Calibration& calibration) {
    std::vector<double> untraced_ns = {*calibration.stream_launch_ns};
    std::vector<double> traced_ns;
    for (int run = 0; run < 2 * kTracedPairs - 1; ++run) {
        const bool traced = (run + 1) / 2 % 2 == 0;
        LaunchLoop loop;
        loop.measurement.warm_up_launches = kWarmUpLaunches;
        if (traced) loop.tracer_library = tracer;
        const auto outcome = run_launch_loop(loop);
        if (!outcome || !outcome->costs.stream_launch_ns) return;
        if (traced && outcome->kernels.empty()) return; // what was measured is no tracing
        (traced ? traced_ns : untraced_ns).push_back(*outcome->costs.stream_launch_ns);
    }
    calibration.stream_launch_ns = median(untraced_ns);
    calibration.tracer_launch_ns = std::max(0.0, median(traced_ns) - *calibration.stream_launch_ns);
}

} // namespace

Result<gpu::Calibration> calibration_for_this_machine() {
    DEEPJIT_TRY(const gpu::DeviceFacts device, gpu::device_facts(0));
    gpu::Calibration machine;
    machine.device_uuid = device.uuid;
    machine.driver_version = device.driver_version();
    const auto tracer = find_tracer_library();
    if (tracer) machine.tracer_identity = identity_of(*tracer);

    const fs::path stored_at = file_of(machine);
    if (const auto text = read_file(stored_at)) {
        const auto stored = gpu::calibration_from_json(*text);
        if (stored && same_machine(*stored, machine)) return *stored;
    }
    LaunchLoop first;
    first.measurement.with_graphs = true;
    first.measurement.warm_up_launches = kWarmUpLaunches;
    DEEPJIT_TRY(LaunchLoopOutcome outcome, run_launch_loop(first));
    gpu::Calibration calibration = std::move(outcome.costs);
    calibration.device_uuid = machine.device_uuid;
    calibration.driver_version = machine.driver_version;
    calibration.tracer_identity = machine.tracer_identity;
    if (tracer && calibration.stream_launch_ns) measure_tracer(*tracer, calibration);
    // A calibration that cannot be stored is measured again next time; that is all.
    if (make_private_directory(stored_at.parent_path()))
        (void)write_file_atomically(stored_at, gpu::to_json(calibration));
    return calibration;
}

} // namespace deepjit::cli
