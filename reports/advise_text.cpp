#include "reports/advise_text.hpp"

#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/model/kernel_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace deepjit::reports {
namespace {

using model::Finding;
using model::Range;

constexpr std::size_t kMaximumLines = 25;
constexpr std::size_t kMaximumGapLines = 4;
constexpr std::size_t kMaximumTrustLines = 3;

/// Lines cut to the width. Names from the trace are made printable before they come here.
class Lines {
  public:
    explicit Lines(std::size_t width) : width_(std::max<std::size_t>(width, 80)) {}
    void add(const std::string& line) { lines_.push_back(elide_middle(line, width_)); }
    /// Text of any length: broken between words.
    void add_wrapped(std::string text, std::size_t indent) {
        std::string line;
        std::size_t begin = 0;
        while (begin < text.size()) {
            const std::size_t end = std::min(text.find(' ', begin), text.size());
            const std::string word = text.substr(begin, end - begin);
            if (!line.empty() && display_width(line) + 1 + display_width(word) > width_) {
                add(line);
                line = std::string(indent, ' ') + word;
            } else {
                line += (begin == 0 ? "" : " ") + word;
            }
            begin = end + 1;
        }
        add(line);
    }
    std::size_t count() const { return lines_.size(); }
    std::size_t width() const { return width_; }
    std::string text() const {
        std::string all;
        for (const std::string& line : lines_)
            all += line + "\n";
        return all;
    }

  private:
    std::size_t width_;
    std::vector<std::string> lines_;
};

std::string range_text(const Range& range) {
    return fmt::format("{} ({} to {})", format_duration(range.typical), format_duration(range.low),
                       format_duration(range.high));
}

/// "67.0 µs" or "-" where there is nothing to save.
std::string saving_text(const Range& range) {
    return range.high <= 0 ? "-" : format_duration(range.typical);
}

void add_verdict(Lines& lines, const model::Report& report) {
    const model::Verdict& verdict = report.verdict;
    lines.add_wrapped(
        fmt::format("Verdict: {}: {}.", name_of(verdict.advice), printable(verdict.deciding_term)), 9);
    if (verdict.fuse_saving_ns.typical > 0)
        lines.add(fmt::format("  fusing saves {} a frame, estimated", range_text(verdict.fuse_saving_ns)));
    if (verdict.graph_saving_ns.typical > 0)
        lines.add(
            fmt::format("  a CUDA Graph saves {} a frame, estimated", range_text(verdict.graph_saving_ns)));
    if (!verdict.graph_blocker.empty())
        lines.add_wrapped(
            fmt::format("  no CUDA Graph can hold the frame: {}", printable(verdict.graph_blocker)), 4);
    if (verdict.break_even_frames)
        lines.add(fmt::format("  repaid after {} frames; `fuse` says whether results stay bit-identical",
                              format_count(static_cast<std::int64_t>(*verdict.break_even_frames + 1))));
}

void add_frame(Lines& lines, const model::FrameSummary& frame) {
    lines.add(fmt::format("Frame: {} in {} frames (measured), K = {} kernels from {} launch{}{}",
                          format_duration(frame.frame_ns.typical), format_count(frame.frames),
                          frame.kernels_per_frame, frame.launches_per_frame,
                          frame.launches_per_frame == 1 ? "" : "es",
                          frame.in_graph ? ", in a CUDA Graph" : ""));
    lines.add(fmt::format("  T = {} busy (measured), c = {} other idle",
                          format_duration(frame.busy_ns.typical),
                          format_duration(frame.other_idle_ns.typical)));
    const std::string traced = format_duration(frame.launch_ns.typical);
    lines.add(frame.corrected ? fmt::format("  L = {} a launch, corrected; {} as traced",
                                            range_text(frame.launch_corrected_ns), traced)
                              : fmt::format("  L = {} a launch, as traced", range_text(frame.launch_ns)));
}

std::string outcome_text(Finding::Outcome outcome) {
    switch (outcome) {
    case Finding::Outcome::Holds:
        return "yes    ";
    case Finding::Outcome::DoesNotHold:
        return "no     ";
    case Finding::Outcome::Abstains:
        return "abstain";
    }
    return "";
}

void add_three_parts(Lines& lines, const model::Report& report) {
    lines.add("Three-part test");
    for (const Finding& finding : report.findings) {
        if (finding.role != Finding::Role::ThreePart) continue;
        lines.add_wrapped(fmt::format("  {} {}", outcome_text(finding.outcome), printable(finding.statement)),
                          10);
    }
}

void add_gaps(Lines& lines, const model::Report& report) {
    if (report.gaps.empty()) return;
    lines.add("Idle time a frame, by cause (measured)");
    for (std::size_t i = 0; i < report.gaps.size() && i < kMaximumGapLines; ++i) {
        const model::GapTotal& gap = report.gaps[i];
        lines.add(fmt::format("  {:>8}  {}{}{} ({:.1f} gaps)", format_duration(gap.per_frame_ns),
                              name_of(gap.cause), gap.blocker.empty() ? "" : " by " + printable(gap.blocker),
                              gap.between_frames ? ", between frames" : "", gap.count_per_frame));
    }
}

std::string chain_row(const model::ChainAdvice& chain, std::size_t width) {
    const auto& steps = chain.chain.steps;
    std::vector<std::string> labels;
    for (const model::ChainStep& step : steps)
        labels.push_back(printable(model::kernel_label(step.name)));
    std::string row =
        fmt::format("  {:>2} {:>4} {:>8} {:>8} {:>8}  {:<16}", chain.chain.number, steps.size(),
                    format_duration(chain.stream_ns.typical), saving_text(chain.verdict.graph_saving_ns),
                    saving_text(chain.verdict.fuse_saving_ns), name_of(chain.verdict.advice));
    const std::size_t left = width > display_width(row) ? width - display_width(row) : 0;
    return row + elide_middle(model::join_labels(labels), left);
}

void add_chains(Lines& lines, const model::Report& report, std::size_t reserved) {
    if (report.chains.empty()) {
        lines.add("No serial chain of short kernels was found.");
        return;
    }
    lines.add("Chains (estimated saving a frame against how it runs in the trace)");
    lines.add("   n    K     time    graph     fuse  verdict         kernels");
    const std::size_t room = kMaximumLines - std::min(kMaximumLines, lines.count() + reserved);
    const std::size_t shown =
        report.chains.size() <= room ? report.chains.size() : std::max<std::size_t>(1, room) - 1;
    for (std::size_t i = 0; i < shown; ++i)
        lines.add(chain_row(report.chains[i], lines.width()));
    if (shown < report.chains.size())
        lines.add(fmt::format("  and {} more (--format json holds all)", report.chains.size() - shown));
}

} // namespace

std::string advise_text(const model::Report& report, std::string_view trace_path, std::size_t width) {
    Lines lines(width);
    if (report.kernel_count == 0) {
        lines.add_wrapped("The trace holds no kernel, so there is nothing to advise on.", 0);
        return lines.text();
    }
    add_verdict(lines, report);
    std::size_t trust_lines = 0;
    for (const Finding& finding : report.findings)
        if (finding.role == Finding::Role::Trust && trust_lines++ < kMaximumTrustLines)
            lines.add(fmt::format("  note: {}", printable(finding.statement)));
    if (report.frame)
        add_frame(lines, *report.frame);
    else
        lines.add_wrapped(fmt::format("No frame: {}", printable(report.no_frame_reason)), 2);
    add_three_parts(lines, report);
    add_gaps(lines, report);
    const bool fusible =
        std::any_of(report.chains.begin(), report.chains.end(), [](const model::ChainAdvice& chain) {
            return chain.verdict.advice == model::Advice::Fuse ||
                   chain.verdict.advice == model::Advice::FuseThenGraph;
        });
    add_chains(lines, report, fusible ? 1 : 0);
    if (fusible) {
        const auto first = std::find_if(report.chains.begin(), report.chains.end(), [](const auto& chain) {
            return chain.verdict.advice == model::Advice::Fuse ||
                   chain.verdict.advice == model::Advice::FuseThenGraph;
        });
        lines.add(fmt::format("Next: deepjit fuse {} --chain {} --emit out", printable(trace_path),
                              first->chain.number));
    }
    return lines.text();
}

} // namespace deepjit::reports
