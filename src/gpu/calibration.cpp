#include "src/gpu/calibration.hpp"

#include "src/base/statistics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace deepjit::gpu {
namespace {

using nlohmann::json;

/// The optional figures by their JSON names.
constexpr std::array<std::pair<const char*, std::optional<Measured> Calibration::*>, 12> kFigures = {{
    {"stream_launch_ns", &Calibration::stream_launch_ns},
    {"graph_intercept_ns", &Calibration::graph_intercept_ns},
    {"graph_node_ns", &Calibration::graph_node_ns},
    {"graph_wall_intercept_ns", &Calibration::graph_wall_intercept_ns},
    {"graph_wall_node_ns", &Calibration::graph_wall_node_ns},
    {"tracer_launch_ns", &Calibration::tracer_launch_ns},
    {"tracer_launch_kernels_ns", &Calibration::tracer_launch_kernels_ns},
    {"tracer_launch_calls_ns", &Calibration::tracer_launch_calls_ns},
    {"tracer_graph_ns", &Calibration::tracer_graph_ns},
    {"tracer_graph_node_ns", &Calibration::tracer_graph_node_ns},
    {"tracer_graph_level_ns", &Calibration::tracer_graph_level_ns},
    {"tracer_graph_level_node_ns", &Calibration::tracer_graph_level_node_ns},
}};

/// 2: figures have a spread, and there are more of them.
constexpr int kJsonVersion = 2;

json json_of(const Measured& measured) {
    return {{"typical", measured.typical}, {"low", measured.low}, {"high", measured.high}};
}

Measured measured_from(const json& object) {
    return {object.at("typical").get<double>(), object.at("low").get<double>(),
            object.at("high").get<double>()};
}

} // namespace

Measured spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    Measured measured{0, *low, *high};
    measured.typical = median(std::move(values));
    return measured;
}

std::string to_json(const Calibration& calibration) {
    json object = {{"schema_version", kJsonVersion},
                   {"device_uuid", calibration.device_uuid},
                   {"driver_version", calibration.driver_version},
                   {"tracer_identity", calibration.tracer_identity}};
    for (const auto& [name, member] : kFigures)
        if (const auto& value = calibration.*member) object[name] = json_of(*value);
    for (const CopyBandwidth& copy : calibration.copies)
        object["copies"].push_back({{"footprint_bytes", copy.footprint_bytes},
                                    {"bytes_per_second", json_of(copy.bytes_per_second)}});
    for (const GridBarrier& barrier : calibration.barriers)
        object["barriers"].push_back(
            {{"blocks", barrier.blocks}, {"barrier_ns", json_of(barrier.barrier_ns)}});
    return object.dump(2) + "\n";
}

Result<Calibration> calibration_from_json(std::string_view text) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object() || object.value("schema_version", json()) != json(kJsonVersion))
        return failure("this is no calibration of this version");
    Calibration calibration;
    try {
        calibration.device_uuid = object.at("device_uuid").get<std::string>();
        calibration.driver_version = object.at("driver_version").get<std::string>();
        calibration.tracer_identity = object.at("tracer_identity").get<std::string>();
        for (const auto& [name, member] : kFigures)
            if (object.contains(name)) calibration.*member = measured_from(object.at(name));
        for (const json& copy : object.value("copies", json::array()))
            calibration.copies.push_back(
                {copy.at("footprint_bytes").get<std::int64_t>(), measured_from(copy.at("bytes_per_second"))});
        for (const json& barrier : object.value("barriers", json::array()))
            calibration.barriers.push_back(
                {barrier.at("blocks").get<int>(), measured_from(barrier.at("barrier_ns"))});
    } catch (const json::exception& exception) {
        return failure("a calibration is damaged", exception.what());
    }
    return calibration;
}

} // namespace deepjit::gpu
