#include "reports/advise_json.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace deepjit::reports {
namespace {

using Json = nlohmann::ordered_json;

/// "CUDA Graph" to "cuda_graph": names of enumerators as programs read them.
std::string token(std::string_view name) {
    std::string text(name);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(c));
    });
    return text;
}

Json range_json(const model::Range& range) {
    return {{"low", range.low}, {"typical", range.typical}, {"high", range.high}};
}

Json optional_json(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json verdict_json(const model::Verdict& verdict) {
    const model::WaysToRun& ways = verdict.ways;
    return {{"advice", token(name_of(verdict.advice))},
            {"deciding_term", printable(verdict.deciding_term)},
            {"graph_saving_ns", range_json(verdict.graph_saving_ns)},
            {"fuse_saving_ns", range_json(verdict.fuse_saving_ns)},
            {"fuse_saving_after_graph_ns", range_json(verdict.fuse_saving_after_graph_ns)},
            {"graph_blocker", printable(verdict.graph_blocker)},
            {"break_even_frames", optional_json(verdict.break_even_frames)},
            {"ways_to_run",
             {{"as_recorded_ns", ways.as_recorded_ns},
              {"in_graph_ns", optional_json(ways.in_graph_ns)},
              {"fused_ns", ways.fused_ns},
              {"fused_in_graph_ns", optional_json(ways.fused_in_graph_ns)}}}};
}

Json frame_json(const model::FrameSummary& frame) {
    return {{"process_id", frame.process_id},
            {"device_id", frame.device_id},
            {"stream_id", frame.stream_id},
            {"frames", frame.frames},
            {"kernels_per_frame", frame.kernels_per_frame},
            {"launches_per_frame", frame.launches_per_frame},
            {"kernels_outside", frame.kernels_outside},
            {"in_graph", frame.in_graph},
            {"frame_ns", range_json(frame.frame_ns)},
            {"span_ns", range_json(frame.span_ns)},
            {"t_ns", range_json(frame.busy_ns)},
            {"kl_traced_ns", range_json(frame.exposed_traced_ns)},
            {"kl_ns", range_json(frame.exposed_ns)},
            {"l_traced_ns", range_json(frame.launch_ns)},
            {"l_ns", range_json(frame.launch_corrected_ns)},
            {"l_corrected", frame.launch_corrected},
            {"calls_recorded", frame.calls_recorded},
            {"c_ns", range_json(frame.other_idle_ns)},
            {"exposed_share", frame.exposed_share}};
}

Json no_kernels_json(const model::NoKernels& none) {
    return {{"cause", token(name_of(none.cause))},
            {"launches_called", none.launches_called},
            {"tracer_error", printable(none.tracer_error)}};
}

Json finding_json(const model::Finding& finding) {
    Json measures = Json::array();
    for (const model::Finding::Measure& measure : finding.measures)
        measures.push_back(
            {{"name", measure.name}, {"value", measure.value}, {"threshold", measure.threshold}});
    return {{"rule", finding.rule},
            {"role", token(name_of(finding.role))},
            {"outcome", token(name_of(finding.outcome))},
            {"statement", printable(finding.statement)},
            {"remedy", printable(finding.remedy)},
            {"measures", measures}};
}

Json gap_json(const model::GapTotal& gap) {
    return {{"cause", token(name_of(gap.cause))},
            {"blocker", printable(gap.blocker)},
            {"between_frames", gap.between_frames},
            {"per_frame_ns", gap.per_frame_ns},
            {"count_per_frame", gap.count_per_frame}};
}

/// Addresses are text: JSON numbers hold 53 bits only.
std::string address_text(std::uint64_t address) {
    return fmt::format("0x{:x}", address);
}

std::string_view name_of_access(model::Access access) {
    switch (access) {
    case model::Access::Unknown:
        return "unknown";
    case model::Access::Read:
        return "read";
    case model::Access::Write:
        return "write";
    case model::Access::ReadWrite:
        return "read_write";
    }
    return "";
}

std::string_view name_of_dependence(model::Dependence dependence) {
    switch (dependence) {
    case model::Dependence::None:
        return "none";
    case model::Dependence::Proved:
        return "proved";
    case model::Dependence::Assumed:
        return "assumed";
    }
    return "";
}

Json step_json(const model::ChainStep& step) {
    Json buffers = Json::array();
    for (const model::BufferUse& use : step.buffers)
        buffers.push_back({{"address", address_text(use.address)},
                           {"footprint_bytes", use.footprint_bytes},
                           {"access", name_of_access(use.access)},
                           {"access_witness", use.access_witness}});
    return {{"kernel_id", step.kernel_id},
            {"name", printable(step.name)},
            {"dependence", name_of_dependence(step.dependence)},
            {"busy_ns", step.busy_ns},
            {"buffers", buffers}};
}

Json chain_json(const model::ChainAdvice& advice) {
    Json steps = Json::array();
    for (const model::ChainStep& step : advice.chain.steps)
        steps.push_back(step_json(step));
    Json written = Json::array();
    for (const model::WrittenBuffer& buffer : advice.chain.written)
        written.push_back({{"address", address_text(buffer.address)},
                           {"footprint_bytes", buffer.footprint_bytes},
                           {"first_writer", buffer.first_writer},
                           {"escapes", buffer.escapes},
                           {"reason", printable(buffer.reason)}});
    Json traffic = nullptr;
    if (advice.traffic)
        traffic = {{"kind", "logical"},
                   {"moved_bytes", advice.traffic->moved_bytes},
                   {"compulsory_bytes", advice.traffic->compulsory_bytes},
                   {"inflation", advice.traffic->inflation()}};
    return {{"number", advice.chain.number},
            {"device_id", advice.chain.device_id},
            {"stream_id", advice.chain.stream_id},
            {"in_graph", advice.chain.in_graph},
            {"occurrences", advice.chain.occurrences.size()},
            {"stream_ns", range_json(advice.stream_ns)},
            {"t_ns", range_json(advice.busy_ns)},
            {"exposed_ns", advice.exposed_ns},
            {"traffic", traffic},
            {"traffic_unknown", printable(advice.traffic_unknown)},
            {"verdict", verdict_json(advice.verdict)},
            {"steps", steps},
            {"written", written}};
}

} // namespace

std::string advise_json(const model::Report& report) {
    Json json = {{"schema_version", kAdviseSchemaVersion},
                 {"source", printable(report.source)},
                 {"device_name", printable(report.device_name)},
                 {"kernel_count", report.kernel_count},
                 {"no_kernels", report.no_kernels ? no_kernels_json(*report.no_kernels) : Json(nullptr)},
                 {"verdict", verdict_json(report.verdict)},
                 {"frame", report.frame ? frame_json(*report.frame) : Json(nullptr)},
                 {"no_frame_reason", printable(report.no_frame_reason)}};
    json["findings"] = Json::array();
    for (const model::Finding& finding : report.findings)
        json["findings"].push_back(finding_json(finding));
    json["gaps"] = Json::array();
    for (const model::GapTotal& gap : report.gaps)
        json["gaps"].push_back(gap_json(gap));
    json["chains"] = Json::array();
    for (const model::ChainAdvice& chain : report.chains)
        json["chains"].push_back(chain_json(chain));
    json["parameters"] = Json::array();
    for (const model::Parameter& parameter : report.parameters)
        json["parameters"].push_back({{"name", parameter.name},
                                      {"value", parameter.value},
                                      {"origin", token(name_of(parameter.origin))}});
    return json.dump(2) + "\n";
}

} // namespace deepjit::reports
