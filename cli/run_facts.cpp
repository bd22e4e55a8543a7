#include "cli/run_facts.hpp"

#include "src/base/files.hpp"
#include "src/trace/trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <unistd.h>

namespace deepjit::cli {
namespace {

constexpr std::string_view kFactsFile = "run.json";

/// What a recording may say about itself; the rest of `meta` belongs to the tool that imports it.
bool belongs_to_the_recording(std::string_view key) {
    return key == trace::meta_key::kTargetStatus || key == trace::meta_key::kHost ||
           key == trace::meta_key::kCommand || key.starts_with("calibration.");
}

} // namespace

ingest::RunFacts run_facts(std::string_view source) {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    ingest::RunFacts facts;
    facts.meta = {{std::string(trace::meta_key::kToolVersion), DEEPJIT_VERSION},
                  {std::string(trace::meta_key::kSource), std::string(source)},
                  {std::string(trace::meta_key::kHost), host.data()}};
    return facts;
}

void add_calibration(ingest::RunFacts& facts, const gpu::Calibration& calibration) {
    const auto add = [&facts](std::string_view key, const std::optional<gpu::Measured>& nanoseconds) {
        if (nanoseconds) facts.meta.emplace_back(key, fmt::format("{:.1f}", nanoseconds->typical));
    };
    add(trace::meta_key::kStreamLaunchNs, calibration.stream_launch_ns);
    add(trace::meta_key::kGraphInterceptNs, calibration.graph_intercept_ns);
    add(trace::meta_key::kGraphNodeNs, calibration.graph_node_ns);
    add(trace::meta_key::kTracerLaunchNs, calibration.tracer_launch_ns);
    add(trace::meta_key::kTracerGraphNs, calibration.tracer_graph_ns);
    add(trace::meta_key::kTracerGraphNodeNs, calibration.tracer_graph_node_ns);
    facts.meta.emplace_back(trace::meta_key::kCalibration, gpu::to_json(calibration));
}

Result<void> save_run_facts(const std::filesystem::path& run_folder, const ingest::RunFacts& facts) {
    nlohmann::ordered_json meta = nlohmann::ordered_json::object();
    for (const auto& [key, value] : facts.meta)
        if (belongs_to_the_recording(key)) meta[key] = value;
    const nlohmann::ordered_json document = {{"meta", std::move(meta)}};
    using nlohmann::detail::error_handler_t;
    DEEPJIT_CHECK(write_file_atomically(run_folder / kFactsFile,
                                        document.dump(2, ' ', false, error_handler_t::replace) + "\n"));
    using std::filesystem::perms;
    std::error_code error;
    std::filesystem::permissions(run_folder / kFactsFile, perms::owner_read | perms::owner_write, error);
    if (error)
        return failure(fmt::format("cannot make '{}' private", (run_folder / kFactsFile).string()),
                       error.message());
    return {};
}

Result<void> add_saved_facts(const std::filesystem::path& run_folder, ingest::RunFacts& facts) {
    const std::filesystem::path path = run_folder / kFactsFile;
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return {};
    DEEPJIT_TRY(const std::string text, read_file(path));
    const auto document = nlohmann::json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("meta") || !document["meta"].is_object())
        return failure(fmt::format("'{}' does not hold the facts of a run", path.string()), {},
                       "remove the file to import the recording without its calibration");
    for (const auto& [key, value] : document["meta"].items()) {
        if (!belongs_to_the_recording(key) || !value.is_string()) continue;
        std::erase_if(facts.meta, [&key = key](const auto& fact) { return fact.first == key; });
        facts.meta.emplace_back(key, value.get<std::string>());
    }
    return {};
}

} // namespace deepjit::cli
