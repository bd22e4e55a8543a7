#include "cli/run_facts.hpp"

#include "src/trace/trace.hpp"

#include <fmt/format.h>

#include <array>
#include <unistd.h>

namespace deepjit::cli {

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
    const auto add = [&facts](std::string_view key, const std::optional<double>& nanoseconds) {
        if (nanoseconds) facts.meta.emplace_back(key, fmt::format("{:.1f}", *nanoseconds));
    };
    add(trace::meta_key::kStreamLaunchNs, calibration.stream_launch_ns);
    add(trace::meta_key::kGraphInterceptNs, calibration.graph_intercept_ns);
    add(trace::meta_key::kGraphNodeNs, calibration.graph_node_ns);
    add(trace::meta_key::kTracerLaunchNs, calibration.tracer_launch_ns);
}

} // namespace deepjit::cli
