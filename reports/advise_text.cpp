#include "reports/advise_text.hpp"

#include "reports/wrapped_lines.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/model/kernel_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace deepjit::reports {
namespace {

using model::Finding;
using model::Range;

constexpr std::size_t kMaximumLines = 25;
constexpr std::size_t kMaximumGapLines = 4;

std::string range_text(const Range& range) {
    return fmt::format("{} ({} to {})", format_duration(range.typical), format_duration(range.low),
                       format_duration(range.high));
}

/// "67.0 µs" or "-" where there is nothing to save.
std::string saving_text(const Range& range) {
    return range.high <= 0 ? "-" : format_duration(range.typical);
}

std::string without_full_stop(const std::string& sentence) {
    std::string text = printable(sentence);
    while (text.ends_with('.'))
        text.pop_back();
    return text;
}

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

/// What a frame would take each way, so that savings can be put side by side.
void add_ways_to_run(WrappedLines& lines, const model::Report& report) {
    const model::Verdict& verdict = report.verdict;
    const model::WaysToRun& ways = verdict.ways;
    if (!report.frame || (verdict.fuse_saving_ns.typical <= 0 && verdict.graph_saving_ns.typical <= 0))
        return;
    std::string text = fmt::format("  estimated a frame: {} {}", format_duration(ways.as_recorded_ns),
                                   report.frame->corrected ? "untraced" : "as traced");
    if (ways.in_graph_ns) text += fmt::format(", {} in a CUDA Graph", format_duration(*ways.in_graph_ns));
    if (verdict.fuse_saving_ns.typical > 0) {
        const std::string fused = format_duration(ways.fused_ns);
        text += fmt::format(", {} fused", fused);
        const std::string both = ways.fused_in_graph_ns ? format_duration(*ways.fused_in_graph_ns) : fused;
        if (both != fused) text += fmt::format(", {} fused then in a graph", both);
    }
    lines.add(text, 4);
}

/// "; after a CUDA Graph still 6.9 µs", or nothing where no graph can hold the frame.
std::string after_graph_text(const model::Verdict& verdict) {
    if (!verdict.ways.in_graph_ns || verdict.graph_saving_ns.typical <= 0) return {};
    return verdict.fuse_saving_after_graph_ns.typical > 0
               ? fmt::format("; after a CUDA Graph still {}", range_text(verdict.fuse_saving_after_graph_ns))
               : "; after a CUDA Graph nothing more";
}

void add_verdict(WrappedLines& lines, const model::Report& report) {
    const model::Verdict& verdict = report.verdict;
    lines.add(fmt::format("Verdict: {}: {}.", name_of(verdict.advice), printable(verdict.deciding_term)), 9);
    add_ways_to_run(lines, report);
    if (verdict.fuse_saving_ns.typical > 0)
        lines.add(fmt::format("  fusing is estimated to save {}{}", range_text(verdict.fuse_saving_ns),
                              after_graph_text(verdict)),
                  4);
    if (verdict.graph_saving_ns.typical > 0)
        lines.add(fmt::format("  a CUDA Graph {} {}",
                              verdict.graph_blocker.empty() ? "is estimated to save" : "would save",
                              range_text(verdict.graph_saving_ns)),
                  4);
    if (!verdict.graph_blocker.empty())
        lines.add(fmt::format("  no CUDA Graph can hold the frame: {}", printable(verdict.graph_blocker)), 4);
    if (verdict.break_even_frames)
        lines.add(fmt::format(
                      "  repaid after {}; `fuse` says whether results stay bit-identical",
                      counted(static_cast<std::int64_t>(*verdict.break_even_frames + 1), "frame", "frames")),
                  4);
}

/// Two notes, or one and how many more there are.
void add_notes(WrappedLines& lines, const model::Report& report) {
    std::vector<std::string> notes;
    for (const Finding& finding : report.findings)
        if (finding.role == Finding::Role::Trust) notes.push_back(printable(finding.statement));
    const std::size_t shown = notes.size() <= 2 ? notes.size() : 1;
    for (std::size_t i = 0; i < shown; ++i)
        lines.add(fmt::format("  note: {}", notes[i]), 8);
    if (shown < notes.size())
        lines.add(fmt::format("  and {} more notes (--format json holds all)", notes.size() - shown), 4);
}

void add_frame(WrappedLines& lines, const model::FrameSummary& frame) {
    lines.add(fmt::format("Frame: {} (measured, {}), K = {} from {}{}",
                          format_duration(frame.frame_ns.typical), counted(frame.frames, "frame", "frames"),
                          counted(frame.kernels_per_frame, "kernel", "kernels"),
                          counted(frame.launches_per_frame, "launch", "launches"),
                          frame.in_graph ? ", in a CUDA Graph" : ""),
              2);
    if (!frame.calls_recorded) {
        lines.add(fmt::format("  T = {} busy, {} idle (measured); K\u00b7L unknown without launch calls",
                              format_duration(frame.busy_ns.typical),
                              format_duration(frame.other_idle_ns.typical)),
                  2);
        return;
    }
    lines.add(fmt::format("  T = {} busy, K\u00b7L = {} launch gaps, c = {} other idle (measured)",
                          format_duration(frame.busy_ns.typical),
                          format_duration(frame.exposed_traced_ns.typical),
                          format_duration(frame.other_idle_ns.typical)),
              2);
    const std::string traced = format_duration(frame.launch_ns.typical);
    lines.add(frame.launch_corrected
                  ? fmt::format("  L = {} a launch, corrected; {} as traced",
                                range_text(frame.launch_corrected_ns), traced)
                  : fmt::format("  L = {} a launch, as traced", range_text(frame.launch_ns)),
              2);
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

void add_three_parts(WrappedLines& lines, const model::Report& report) {
    lines.add("Three-part test", 2);
    for (const Finding& finding : report.findings) {
        if (finding.role != Finding::Role::ThreePart) continue;
        lines.add(fmt::format("  {} {}", outcome_text(finding.outcome), printable(finding.statement)), 10);
    }
}

/// "3 gaps", and for what does not happen in each frame "0.2 gaps" or "fewer than 0.1 gaps".
std::string gaps_text(double count_per_frame) {
    const double rounded = std::round(count_per_frame * 10) / 10;
    if (rounded < 0.1) return "fewer than 0.1 gaps";
    return rounded == 1 ? "1 gap" : fmt::format("{:g} gaps", rounded);
}

void add_gaps(WrappedLines& lines, const model::Report& report) {
    if (report.gaps.empty()) return;
    lines.add("Idle time a frame, by cause (measured)", 2);
    // The chains need their head, at least one of them and how many more there are, and the next command.
    const std::size_t reserved =
        2 + (report.chains.empty() ? 0 : 1 + std::min<std::size_t>(2, report.chains.size()));
    const std::size_t free = kMaximumLines - std::min(kMaximumLines - 1, lines.count() + reserved);
    const std::size_t shown = std::min({report.gaps.size(), kMaximumGapLines, free});
    for (std::size_t i = 0; i < shown; ++i) {
        const model::GapTotal& gap = report.gaps[i];
        lines.add(fmt::format("  {:>8}  {}{}{} ({})", format_duration(gap.per_frame_ns), name_of(gap.cause),
                              gap.blocker.empty() ? "" : " by " + lines.name(gap.blocker),
                              gap.between_frames ? ", between frames" : "", gaps_text(gap.count_per_frame)),
                  12);
    }
}

/// Whether a chain's names stand beside its figures, or on a line of their own.
bool has_name_column(const WrappedLines& lines) {
    return lines.width() >= 80;
}

/// Whether a chain's figures fit on one line.
bool has_table(const WrappedLines& lines) {
    return lines.width() >= 56;
}

void add_chain(WrappedLines& lines, const model::ChainAdvice& chain) {
    const auto& steps = chain.chain.steps;
    std::vector<std::string> labels;
    for (const model::ChainStep& step : steps)
        labels.push_back(printable(model::kernel_label(step.name)));
    const std::string names = model::join_labels(labels);
    const std::string time = format_duration(chain.stream_ns.typical);
    const std::string graph = saving_text(chain.verdict.graph_saving_ns);
    const std::string fuse = saving_text(chain.verdict.fuse_saving_ns);
    const std::string_view advice = name_of(chain.verdict.advice);
    std::string row =
        fmt::format("  {:>2} {:>4} {:>8} {:>8} {:>8}  ", chain.chain.number, steps.size(), time, graph, fuse);
    if (has_name_column(lines)) {
        row += fmt::format("{:<15} ", advice);
        return lines.add_row(row + elide_middle(names, lines.width() - display_width(row)));
    }
    if (has_table(lines))
        lines.add_row(row.append(advice));
    else
        lines.add(fmt::format("  {}: {}: K = {}, time {}, graph {}, fuse {}", chain.chain.number, advice,
                              steps.size(), time, graph, fuse),
                  5);
    lines.add_row("     " + elide_middle(names, lines.width() - 5));
}

void add_chains(WrappedLines& lines, const model::Report& report, std::size_t reserved) {
    if (report.chains.empty()) {
        lines.add("No serial chain of short kernels was found.", 2);
        return;
    }
    lines.add("Chains (time with the gap before the first kernel; savings are estimated)", 2);
    if (has_table(lines))
        lines.add_row(std::string("   n    K     time    graph     fuse  verdict") +
                      (has_name_column(lines) ? "         kernels" : ""));
    const std::size_t lines_each = has_name_column(lines) ? 1 : 2;
    const std::size_t room = (kMaximumLines - std::min(kMaximumLines, lines.count() + reserved)) / lines_each;
    const std::size_t shown =
        report.chains.size() <= room ? report.chains.size() : std::max<std::size_t>(2, room) - 1;
    for (std::size_t i = 0; i < shown; ++i)
        add_chain(lines, report.chains[i]);
    if (shown < report.chains.size())
        lines.add(fmt::format("  and {} more (--format json holds all)", report.chains.size() - shown), 4);
}

/// One line where it matters: outputs that may be none make a chain look better than a reader could know.
void add_traffic_note(WrappedLines& lines, const model::Report& report) {
    for (const model::ChainAdvice& chain : report.chains)
        for (const model::ChainStep& step : chain.chain.steps)
            for (const model::BufferUse& use : step.buffers)
                if (use.access == model::Access::ReadWrite)
                    return lines.add(
                        "  A pointer that is not const counts as read and written, so the traffic "
                        "that fusing saves is a lower bound.",
                        4);
}

} // namespace

std::string no_kernels_text(const model::NoKernels& none) {
    using Cause = model::NoKernels::Cause;
    std::string cause;
    if (!none.tracer_error.empty()) cause = fmt::format(" Cause: {}.", without_full_stop(none.tracer_error));
    switch (none.cause) {
    case Cause::DriverNotInitialised:
        return "The trace holds no kernel: the program never initialised CUDA.";
    case Cause::NothingLaunched:
        return "The trace holds no kernel: the program initialised CUDA but launched none.";
    case Cause::RecordsMissing:
        return fmt::format("The program launched kernels ({}), but no record of them arrived, so nothing can "
                           "be said about its time.{}",
                           counted(none.launches_called, "launch call", "launch calls"), cause);
    case Cause::NotWatched:
        return "The program used CUDA, but the tracer could not watch it, so nothing can be said about its "
               "time." +
               cause;
    case Cause::CutOff:
        return "The program was ended before its recording reached the disk, so what it launched is not known.";
    case Cause::NothingSelected:
        return "The trace holds no kernel: the program ended before the part of it that was to be recorded began.";
    case Cause::GraphLevel:
        return fmt::format(
            "The trace was recorded with --graph-level: {} took {} on the device in sum, and the "
            "kernels in them are not in it, so nothing can be said about chains.",
            counted(none.graph_launches, "graph launch", "graph launches"),
            format_duration(static_cast<double>(none.graph_ns)));
    }
    return {};
}

std::string advise_text(const model::Report& report, std::string_view trace_path, std::size_t width) {
    WrappedLines lines(width);
    if (report.kernel_count == 0 || report.no_kernels) {
        lines.add(no_kernels_text(report.no_kernels.value_or(model::NoKernels{})), 0);
        return lines.text();
    }
    add_verdict(lines, report);
    add_notes(lines, report);
    if (report.frame)
        add_frame(lines, *report.frame);
    else
        lines.add(fmt::format("No frame: {}", printable(report.no_frame_reason)), 2);
    add_three_parts(lines, report);
    add_traffic_note(lines, report);
    add_gaps(lines, report);
    const auto first_to_fuse =
        std::find_if(report.chains.begin(), report.chains.end(), [](const model::ChainAdvice& chain) {
            return chain.verdict.advice == model::Advice::Fuse ||
                   chain.verdict.advice == model::Advice::FuseThenGraph;
        });
    const bool fusible = first_to_fuse != report.chains.end();
    add_chains(lines, report, fusible ? 1 : 0);
    if (fusible)
        lines.add_command(fmt::format("Next: deepjit fuse {} --chain {} --emit out", printable(trace_path),
                                      first_to_fuse->chain.number));
    return lines.text();
}

} // namespace deepjit::reports
