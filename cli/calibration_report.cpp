#include "cli/calibration_report.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace deepjit::cli {
namespace {

using gpu::Calibration;
using gpu::Measured;

using Row = std::pair<std::string_view, const std::optional<Measured>&>;

std::string line(std::string_view label, const std::string& typical, const std::string& low,
                 const std::string& high) {
    return fmt::format("  {:<43} {:>9}  ({} to {})\n", label, typical, low, high);
}

std::string time_line(std::string_view label, const Measured& measured) {
    return line(label, format_duration(measured.typical), format_duration(measured.low),
                format_duration(measured.high));
}

/// Nothing where none of the rows was measured.
std::string section(std::string_view title, const std::vector<Row>& rows) {
    std::string lines;
    for (const auto& [label, figure] : rows)
        if (figure) lines += time_line(label, *figure);
    return lines.empty() ? lines : fmt::format("{}\n{}", title, lines);
}

std::string rate(double bytes_per_second) {
    return fmt::format("{:.2f} TB/s", bytes_per_second / 1e12);
}

} // namespace

std::string render_calibration_text(const Calibration& calibration) {
    std::string text =
        fmt::format("Device {}\nDriver {}\n", calibration.device_uuid, calibration.driver_version);
    text += section("Launches of an empty kernel",
                    {{"a launch in a stream", calibration.stream_launch_ns},
                     {"a graph's launch, on the device", calibration.graph_intercept_ns},
                     {"each node of it", calibration.graph_node_ns},
                     {"a graph's launch, with the wait for it", calibration.graph_wall_intercept_ns},
                     {"each node of it", calibration.graph_wall_node_ns}});
    text += section("What the tracer adds",
                    {{"to a launch: kernels alone", calibration.tracer_launch_kernels_ns},
                     {"to a launch: kernels and calls", calibration.tracer_launch_calls_ns},
                     {"to a launch: kernels, calls, arguments", calibration.tracer_launch_ns},
                     {"to a graph's launch", calibration.tracer_graph_ns},
                     {"to each node of it", calibration.tracer_graph_node_ns},
                     {"to a graph's launch, with --graph-level", calibration.tracer_graph_level_ns},
                     {"to each node of it, with --graph-level", calibration.tracer_graph_level_node_ns}});
    if (!calibration.copies.empty()) text += "Copies within the device, read and written, by footprint\n";
    for (const auto& [footprint_bytes, speed] : calibration.copies)
        text += line(format_bytes(static_cast<double>(footprint_bytes)), rate(speed.typical), rate(speed.low),
                     rate(speed.high));
    if (!calibration.barriers.empty()) text += "A barrier of all blocks of a kernel\n";
    for (const auto& [blocks, barrier_ns] : calibration.barriers)
        text += time_line(blocks == 1 ? "1 block" : fmt::format("{} blocks", blocks), barrier_ns);
    return text;
}

} // namespace deepjit::cli
