#include "tests/diff/rows.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>

namespace deepjit::tests {
namespace {

std::string us(double nanoseconds) {
    std::string text = fmt::format("{:.3f}", nanoseconds / 1e3);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
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

} // namespace

std::string rows_of(const model::Report& report) {
    std::string rows;
    if (report.frame) {
        const model::FrameSummary& frame = *report.frame;
        rows +=
            fmt::format("frame frames={} K={} launches={} outside={}{} t={} T={} KL={} KL_corrected={} c={} "
                        "exposed={:.3f}\n",
                        frame.frames, frame.kernels_per_frame, frame.launches_per_frame,
                        frame.kernels_outside, frame.in_graph ? " graph" : "", us(frame.frame_ns.typical),
                        us(frame.busy_ns.typical), us(frame.exposed_traced_ns.typical),
                        us(frame.exposed_ns.typical), us(frame.other_idle_ns.typical), frame.exposed_share);
    } else {
        rows += fmt::format("no-frame {}\n", report.no_frame_reason);
    }
    for (const model::GapTotal& gap : report.gaps)
        rows += fmt::format("gap {}{}{} {} x{:.2f}\n", name_of(gap.cause),
                            gap.blocker.empty() ? "" : " (" + gap.blocker + ")",
                            gap.between_frames ? " between" : "", us(gap.per_frame_ns), gap.count_per_frame);
    for (const model::ChainAdvice& chain : report.chains) {
        rows += fmt::format("chain {} {}{} T={} exposed={} inflation={} -> {}\n", chain.chain.number,
                            chain.chain.steps.size(), chain.chain.in_graph ? " graph" : "",
                            us(chain.busy_ns.typical), us(chain.exposed_ns),
                            chain.traffic ? fmt::format("{:.2f}", chain.traffic->inflation()) : "?",
                            name_of(chain.verdict.advice));
        for (const model::ChainStep& step : chain.chain.steps)
            rows += fmt::format("  step {} {}\n", base_name_of_function(step.name),
                                name_of_dependence(step.dependence));
        for (const model::WrittenBuffer& written : chain.chain.written)
            rows += fmt::format("  wrote {:x} {}: {}\n", written.address,
                                written.escapes ? "escapes" : "inside", written.reason);
    }
    for (const model::Finding& finding : report.findings)
        if (finding.role == model::Finding::Role::ThreePart)
            rows += fmt::format("part {} {}\n", finding.rule, name_of(finding.outcome));
    rows += fmt::format("verdict {}{}\n", name_of(report.verdict.advice),
                        report.verdict.graph_blocker.empty() ? ""
                                                             : " blocked by " + report.verdict.graph_blocker);
    return rows;
}

} // namespace deepjit::tests
