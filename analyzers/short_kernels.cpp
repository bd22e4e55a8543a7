#include "analyzers/short_kernels.hpp"

#include "src/base/statistics.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {

std::vector<model::Finding> find_short_kernels(const Evidence& evidence) {
    model::Finding finding{"short-kernels",
                           model::Finding::Role::ThreePart,
                           model::Finding::Outcome::Abstains,
                           "No frame was found to count in.",
                           "",
                           {}};
    if (evidence.frames == nullptr) return {finding};
    const AdviseOptions& options = evidence.options;
    const std::size_t launches = evidence.frames->kernels_per_frame();
    double short_launches = 0;
    double short_ns = 0;
    double total_ns = 0;
    for (std::size_t position = 0; position < launches; ++position) {
        std::vector<double> durations;
        for (const Frame& frame : evidence.frames->frames)
            durations.push_back(
                static_cast<double>(evidence.trace.kernels[frame.kernels[position]].duration_ns()));
        const double typical_ns = median(std::move(durations));
        total_ns += typical_ns;
        if (typical_ns >= options.short_kernel_ns) continue;
        short_launches += 1;
        short_ns += typical_ns;
    }
    const double launch_share = short_launches / static_cast<double>(launches);
    const double time_share = total_ns > 0 ? short_ns / total_ns : 0;
    const bool holds = launch_share >= options.short_launch_share && time_share >= options.short_time_share;
    finding.outcome = holds ? model::Finding::Outcome::Holds : model::Finding::Outcome::DoesNotHold;
    finding.statement =
        fmt::format("{} of the launches and {} of the kernel time are under {}.", format_share(launch_share),
                    format_share(time_share), format_duration(options.short_kernel_ns));
    finding.measures = {{"short_launch_share", launch_share, options.short_launch_share},
                        {"short_time_share", time_share, options.short_time_share}};
    return {finding};
}

} // namespace deepjit::analyzers
