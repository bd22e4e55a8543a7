#include "analyzers/frames.hpp"

#include "analyzers/statistics.hpp"
#include "src/base/statistics.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace deepjit::analyzers {
namespace {

using Kind = TrackItem::Kind;

constexpr std::size_t kSymbolsTried = 32;       // symbols whose recurrence is looked at
constexpr std::size_t kOccurrencesTried = 4096; // of each
constexpr std::size_t kRecurrencesTried = 64;   // times that a symbol may occur in one period
constexpr double kRegularShare = 0.6;           // of recurrences at the same distance
constexpr double kMultipleSlack = 0.99;         // coverage at which a period is preferred to its multiple
constexpr std::size_t kBoundarySamples = 16;

/// Distances at which `positions` recur regularly.
void add_candidates(const std::vector<std::size_t>& positions, std::set<std::size_t>& candidates) {
    for (std::size_t step = 1; step <= kRecurrencesTried && step < positions.size(); ++step) {
        std::map<std::size_t, std::size_t> votes;
        for (std::size_t i = 0; i + step < positions.size(); ++i)
            ++votes[positions[i + step] - positions[i]];
        const auto mode = std::max_element(votes.begin(), votes.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        const auto recurrences = static_cast<double>(positions.size() - step);
        if (static_cast<double>(mode->second) < kRegularShare * recurrences) continue;
        candidates.insert(mode->first);
        if (mode->second == positions.size() - step) return; // longer ones are its multiples
    }
}

std::set<std::size_t> candidate_periods(const std::vector<std::uint32_t>& symbols,
                                        std::size_t minimum_repeats) {
    std::map<std::uint32_t, std::vector<std::size_t>> positions;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        auto& list = positions[symbols[i]];
        if (list.size() < kOccurrencesTried) list.push_back(i);
    }
    std::vector<const std::vector<std::size_t>*> lists;
    for (const auto& [symbol, list] : positions)
        if (list.size() >= minimum_repeats) lists.push_back(&list);
    std::stable_sort(lists.begin(), lists.end(), [](auto* a, auto* b) { return a->size() < b->size(); });
    const std::size_t stride = std::max<std::size_t>(1, lists.size() / kSymbolsTried);
    std::set<std::size_t> candidates;
    for (std::size_t i = 0; i < lists.size(); i += stride)
        add_candidates(*lists[i], candidates);
    return candidates;
}

/// Symbols in stretches that repeat with `length` at least `minimum_repeats` times, and the longest's start.
Period coverage_of(const std::vector<std::uint32_t>& symbols, std::size_t length,
                   std::size_t minimum_repeats) {
    Period period{length, 0, 0};
    std::size_t longest = 0;
    std::size_t covered_until = 0;
    std::size_t run = 0;
    const std::size_t pairs = symbols.size() - length;
    for (std::size_t i = 0; i <= pairs; ++i) {
        if (i < pairs && symbols[i] == symbols[i + length]) {
            ++run;
            continue;
        }
        if (run >= length * (minimum_repeats - 1)) {
            const std::size_t begin = i - run;
            const std::size_t end = i + length;
            period.covered += end - std::max(begin, covered_until);
            covered_until = end;
            if (run > longest) {
                longest = run;
                period.first = begin;
            }
        }
        run = 0;
    }
    return period;
}

std::vector<std::uint32_t> symbols_of(const Track& track) {
    std::vector<std::uint32_t> symbols;
    symbols.reserve(track.items.size());
    for (const TrackItem& item : track.items)
        symbols.push_back(item.symbol);
    return symbols;
}

/// Where in the cycle that begins at `period.first` a frame begins.
std::size_t boundary_of(const Track& track, const Period& period) {
    const bool synchronises =
        std::any_of(track.items.begin() + static_cast<std::ptrdiff_t>(period.first),
                    track.items.begin() + static_cast<std::ptrdiff_t>(period.first + period.length),
                    [](const TrackItem& item) { return item.kind == Kind::Synchronise; });
    std::vector<double> gaps(period.length, -1);
    for (std::size_t offset = 0; offset < period.length; ++offset) {
        const std::size_t first = period.first + offset;
        if (track.items[first].kind == Kind::Synchronise) continue;
        if (synchronises && (first == 0 || track.items[first - 1].kind != Kind::Synchronise) &&
            track.items[first + period.length - 1].kind != Kind::Synchronise)
            continue;
        std::vector<double> samples;
        for (std::size_t at = first; at < track.items.size() && samples.size() < kBoundarySamples;
             at += period.length) {
            std::size_t before = at;
            while (before > 0 && track.items[before - 1].kind == Kind::Synchronise)
                --before;
            if (before == 0 || !track.items[at].is_timed || !track.items[before - 1].is_timed) continue;
            samples.push_back(static_cast<double>(track.items[at].start_ns - track.items[before - 1].end_ns));
        }
        gaps[offset] = std::max(0.0, median(samples));
    }
    const auto longest = std::max_element(gaps.begin(), gaps.end());
    constexpr double kClearlyLonger = 2;
    constexpr double kClockNoiseNs = 1e3;
    if (!synchronises && *longest < kClearlyLonger * median(gaps) + kClockNoiseNs) return 0;
    return static_cast<std::size_t>(longest - gaps.begin());
}

/// Places where `pattern` occurs, from the left, none overlapping (Knuth, Morris, Pratt).
std::vector<std::size_t> occurrences_of(const std::vector<std::uint32_t>& pattern,
                                        const std::vector<std::uint32_t>& symbols) {
    std::vector<std::size_t> fallback(pattern.size(), 0);
    for (std::size_t i = 1, matched = 0; i < pattern.size(); ++i) {
        while (matched > 0 && pattern[i] != pattern[matched])
            matched = fallback[matched - 1];
        if (pattern[i] == pattern[matched]) ++matched;
        fallback[i] = matched;
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0, matched = 0; i < symbols.size(); ++i) {
        while (matched > 0 && symbols[i] != pattern[matched])
            matched = fallback[matched - 1];
        if (symbols[i] == pattern[matched]) ++matched;
        if (matched == pattern.size()) {
            found.push_back(i + 1 - pattern.size());
            matched = 0;
        }
    }
    return found;
}

bool all_timed(const Track& track, std::size_t first_item, std::size_t length) {
    const auto begin = track.items.begin() + static_cast<std::ptrdiff_t>(first_item);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(length),
                       [](const TrackItem& item) { return item.is_timed; });
}

std::optional<Frame> frame_at(const model::TraceData& trace, const Track& track, std::size_t first_item,
                              std::size_t length) {
    Frame frame;
    frame.first_item = first_item;
    for (std::size_t i = first_item; i < first_item + length; ++i)
        for (std::size_t k = 0; k < track.items[i].kernel_count; ++k)
            frame.kernels.push_back(track.kernels[track.items[i].first_kernel + k]);
    if (frame.kernels.empty()) return std::nullopt;
    frame.span = {trace.kernels[frame.kernels.front()].start_ns, 0};
    for (const std::size_t kernel : frame.kernels) {
        frame.span.start_ns = std::min(frame.span.start_ns, trace.kernels[kernel].start_ns);
        frame.span.end_ns = std::max(frame.span.end_ns, trace.kernels[kernel].end_ns);
    }
    return frame;
}

/// Occurrences of the pattern that are no evidence of a frame's times.
struct LeftOut {
    std::int64_t without_times = 0;
    std::int64_t without_calls =
        0; ///< a launch call was lost, so that the gap before its kernel has no cause

    bool takes(const model::TraceData& trace, const Track& track, const Frame& frame, std::size_t length,
               bool calls_recorded) {
        if (!all_timed(track, frame.first_item, length)) {
            ++without_times;
            return true;
        }
        const bool lost = calls_recorded &&
                          std::any_of(frame.kernels.begin(), frame.kernels.end(), [&](std::size_t kernel) {
                              return lost_its_call(trace, trace.kernels[kernel]);
                          });
        without_calls += lost ? 1 : 0;
        return lost;
    }

    std::string reason() const {
        std::string reason;
        const auto add = [&](std::int64_t count, std::string_view what) {
            if (count == 0) return;
            reason += fmt::format("{} {} {} {}", reason.empty() ? ":" : ",", format_count(count),
                                  count == 1 ? "frame holds" : "frames hold", what);
        };
        add(without_times, "work whose times CUPTI could not take");
        add(without_calls, "a kernel whose launch call is missing");
        return reason + ".";
    }
};

void drop_warm_up(std::vector<Frame>& frames) {
    std::vector<double> spans;
    for (const Frame& frame : frames)
        spans.push_back(static_cast<double>(frame.span.length_ns()));
    const double limit_ns = 2 * median(spans);
    std::size_t warm_up = 0;
    while (warm_up < frames.size() && spans[warm_up] > limit_ns)
        ++warm_up;
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(warm_up));
}

/// A graph launch is one item, however many of its kernels were recorded: the tail of a killed program's
/// trace, lost records and nodes that are switched off make frames of fewer. Places in a frame are compared
/// over all frames, so that those of the most frequent number stay. Returns how many were dropped.
std::int64_t drop_incomplete(std::vector<Frame>& frames) {
    std::map<std::size_t, std::size_t> frames_by_kernels;
    for (const Frame& frame : frames)
        ++frames_by_kernels[frame.kernels.size()];
    if (frames_by_kernels.size() < 2) return 0;
    const std::size_t usual =
        std::max_element(frames_by_kernels.begin(), frames_by_kernels.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    std::vector<Frame> complete;
    bool follows_complete = false;
    for (Frame& frame : frames) {
        const bool is_complete = frame.kernels.size() == usual;
        // Which of its kernels is missing is not known: it may be the first, where the frame before would
        // end.
        if (!is_complete && follows_complete) complete.back().next_start_ns.reset();
        follows_complete = is_complete;
        if (is_complete) complete.push_back(std::move(frame));
    }
    const auto dropped = static_cast<std::int64_t>(frames.size() - complete.size());
    frames = std::move(complete);
    return dropped;
}

} // namespace

bool lost_its_call(const model::TraceData& trace, const trace::Kernel& kernel) {
    return kernel.graph_id == 0 && trace.call_of(kernel) == nullptr;
}

std::optional<Period> find_period(const std::vector<std::uint32_t>& symbols, std::int64_t minimum_repeats) {
    const auto repeats = static_cast<std::size_t>(std::max<std::int64_t>(2, minimum_repeats));
    std::optional<Period> best;
    for (const std::size_t length : candidate_periods(symbols, repeats)) {
        if (length * repeats > symbols.size()) continue;
        const Period period = coverage_of(symbols, length, repeats);
        if (period.covered == 0) continue;
        // Candidates come by rising length: a multiple must explain clearly more than what it multiplies.
        const bool multiple = best && length % best->length == 0;
        const double needed = best ? static_cast<double>(best->covered) / (multiple ? kMultipleSlack : 1) : 0;
        if (!best || static_cast<double>(period.covered) > needed) best = period;
    }
    return best;
}

TrackFrames find_frames(const model::TraceData& trace, Track track, const AdviseOptions& options) {
    TrackFrames result;
    result.track = std::move(track);
    const Track& items = result.track;
    const std::vector<std::uint32_t> symbols = symbols_of(items);
    result.kernels_outside = static_cast<std::int64_t>(items.kernels.size());
    result.calls_recorded = std::any_of(items.kernels.begin(), items.kernels.end(), [&](std::size_t kernel) {
        return trace.call_of(trace.kernels[kernel]) != nullptr;
    });
    const std::optional<Period> period = find_period(symbols, options.minimum_frames);
    if (!period) {
        result.no_period_reason =
            fmt::format("No sequence of launches on stream {} repeats {} times or more.", items.stream_id,
                        options.minimum_frames);
        return result;
    }
    const std::size_t first = period->first + boundary_of(items, *period);
    std::vector<std::uint32_t> pattern;
    for (std::size_t i = 0; i < period->length; ++i)
        pattern.push_back(symbols[period->first + (first - period->first + i) % period->length]);
    result.items_per_frame = period->length;
    std::optional<std::size_t> follows;
    LeftOut left_out;
    for (const std::size_t at : occurrences_of(pattern, symbols)) {
        std::optional<Frame> frame = frame_at(trace, items, at, period->length);
        if (!frame || left_out.takes(trace, items, *frame, period->length, result.calls_recorded)) continue;
        if (follows && *follows == at) result.frames.back().next_start_ns = frame->span.start_ns;
        follows = at + period->length;
        result.frames.push_back(std::move(*frame));
    }
    result.incomplete_frames = drop_incomplete(result.frames);
    drop_warm_up(result.frames);
    if (static_cast<std::int64_t>(result.frames.size()) < options.minimum_frames) {
        result.frames.clear();
        result.no_period_reason = fmt::format("Fewer than {} whole frames were found on stream {}",
                                              options.minimum_frames, items.stream_id);
        result.no_period_reason += left_out.reason();
        return result;
    }
    result.kernels_outside -= static_cast<std::int64_t>(result.frames.size() * result.kernels_per_frame());
    return result;
}

const Frame& representative_frame(const TrackFrames& frames) {
    std::vector<double> spans;
    for (const Frame& frame : frames.frames)
        spans.push_back(static_cast<double>(frame.span.length_ns()));
    const double typical = percentile(spans, 0.5); // a span that occurred
    const auto found = std::find(spans.begin(), spans.end(), typical);
    return frames.frames[static_cast<std::size_t>(found - spans.begin())];
}

} // namespace deepjit::analyzers
