#include "analyzers/blocked_host.hpp"

#include "src/base/units.hpp"

#include <fmt/format.h>

namespace deepjit::analyzers {
namespace {

std::string remedy_for(const std::string& blocker) {
    if (blocker == "host work")
        return "Move the host's work out of the frame, or let it run while the device works.";
    if (blocker == "copy or memset") return "";
    if (blocker.find("Synchronize") != std::string::npos)
        return "Synchronise once, after the frame's last launch.";
    if (blocker.find("Alloc") != std::string::npos || blocker.find("Free") != std::string::npos)
        return "Allocate once, before the first frame.";
    if (blocker.find("cpy") != std::string::npos) return "Copy from pinned memory, asynchronously.";
    return "Do it before the first frame.";
}

} // namespace

std::vector<model::Finding> find_blocked_host(const Evidence& evidence) {
    std::vector<model::Finding> findings;
    if (evidence.gaps == nullptr) return findings;
    for (const model::GapTotal& total : total_gaps(*evidence.gaps)) {
        if (total.cause != model::GapCause::Blocked || total.between_frames) continue;
        findings.push_back({"blocked-host",
                            model::Finding::Role::Culprit,
                            model::Finding::Outcome::Holds,
                            fmt::format("{} keeps the device idle for {} within each frame.", total.blocker,
                                        format_duration(total.per_frame_ns)),
                            remedy_for(total.blocker),
                            {{"blocked_ns", total.per_frame_ns, 0}}});
    }
    return findings;
}

} // namespace deepjit::analyzers
