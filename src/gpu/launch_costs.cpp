#include "src/gpu/launch_costs.hpp"

#include "src/base/statistics.hpp"
#include "src/gpu/launch_probe.hpp"
#include "src/gpu/line_fit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace deepjit::gpu {
namespace {

/// Below some 200 nodes a single replay, as a chain of one frame is.
constexpr std::array kGraphNodeCounts = {1, 8, 16, 32, 64, 128};
constexpr int kGraphReplays = 15;

struct ReplayTimes {
    double event_ns = 0;
    double wall_ns = 0;
};

/// Medians over single replays, each on an idle device.
Result<ReplayTimes> time_replays(LaunchProbe& probe, int nodes) {
    DEEPJIT_TRY(const GraphExec graph, probe.capture(nodes));
    DEEPJIT_TRY(Event start, Event::create());
    DEEPJIT_TRY(Event end, Event::create());
    const Stream& stream = probe.stream();
    DEEPJIT_CHECK(graph.upload(stream));
    std::vector<double> event_ns;
    std::vector<double> wall_ns;
    for (int replay = -2; replay < kGraphReplays; ++replay) {
        DEEPJIT_CHECK(stream.synchronize());
        DEEPJIT_CHECK(start.record(stream));
        DEEPJIT_CHECK(graph.launch(stream));
        DEEPJIT_CHECK(end.record(stream));
        DEEPJIT_CHECK(stream.synchronize());
        const auto before = std::chrono::steady_clock::now();
        DEEPJIT_CHECK(graph.launch(stream));
        DEEPJIT_CHECK(stream.synchronize());
        const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - before;
        if (replay < 0) continue; // warm-up
        DEEPJIT_TRY(const double elapsed_ns, end.nanoseconds_since(start));
        event_ns.push_back(elapsed_ns);
        wall_ns.push_back(wall.count());
    }
    return ReplayTimes{median(std::move(event_ns)), median(std::move(wall_ns))};
}

Result<void> measure_graphs(LaunchProbe& probe, Calibration& calibration) {
    std::vector<std::pair<double, double>> by_event;
    std::vector<std::pair<double, double>> by_wall;
    for (const int nodes : kGraphNodeCounts) {
        DEEPJIT_TRY(const ReplayTimes times, time_replays(probe, nodes));
        by_event.emplace_back(nodes, times.event_ns);
        by_wall.emplace_back(nodes, times.wall_ns);
    }
    if (const auto line = fit_line(by_event)) {
        calibration.graph_intercept_ns = spread_of({line->intercept});
        calibration.graph_node_ns = spread_of({line->slope});
    }
    if (const auto line = fit_line(by_wall)) {
        calibration.graph_wall_intercept_ns = spread_of({line->intercept});
        calibration.graph_wall_node_ns = spread_of({line->slope});
    }
    return {};
}

} // namespace

Result<Calibration> measure_launch_costs(int device_index, const LaunchMeasurement& measurement) {
    DEEPJIT_TRY(LaunchProbe probe, LaunchProbe::create(device_index));
    Calibration calibration;
    calibration.device_uuid = probe.device().uuid;
    calibration.driver_version = probe.device().driver_version();
    const int launches = std::max(measurement.launches, 1);
    for (int warm_up = 0; warm_up < measurement.warm_up_launches; warm_up += launches)
        DEEPJIT_CHECK(probe.burst_ns(launches));
    std::vector<double> per_launch_ns;
    for (int round = 0; round < measurement.rounds; ++round) {
        DEEPJIT_TRY(const double burst_ns, probe.burst_ns(launches));
        per_launch_ns.push_back(burst_ns / launches);
    }
    calibration.stream_launch_ns = spread_of(std::move(per_launch_ns));
    if (measurement.with_graphs) DEEPJIT_CHECK(measure_graphs(probe, calibration));
    return calibration;
}

} // namespace deepjit::gpu
