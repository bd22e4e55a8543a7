#include "analyzers/launch_exposure.hpp"

#include "src/base/statistics.hpp"

#include <numeric>
#include <unordered_map>

namespace deepjit::analyzers {
namespace {

double sum_of(const std::vector<double>& values, std::size_t first, std::size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(count), 0.0);
}

/// Exposed time before each kernel of one frame.
struct FrameExposure {
    std::vector<double> traced_ns;
    std::vector<double> corrected_ns;
    bool shows_first = false; ///< the frame before it follows at once, so that its first gap was seen
};

FrameExposure exposure_of(const TrackFrames& frames, const GapAnalysis& gaps, std::size_t index) {
    const std::vector<std::size_t>& kernels = frames.frames[index].kernels;
    FrameExposure exposure{std::vector<double>(kernels.size()), std::vector<double>(kernels.size()),
                           index > 0 && frames.frames[index - 1].next_start_ns.has_value()};
    std::unordered_map<std::size_t, std::size_t> places;
    for (std::size_t place = 0; place < kernels.size(); ++place)
        places[kernels[place]] = place;
    const auto add = [&](const Gap& gap) {
        const auto place = places.find(gap.next_kernel);
        if (!gap.is_exposed() || place == places.end()) return;
        exposure.traced_ns[place->second] += static_cast<double>(gap.interval.length_ns());
        exposure.corrected_ns[place->second] += gap.corrected_ns;
    };
    for (const Gap& gap : gaps.by_frame[index])
        if (!gap.between_frames) add(gap);
    if (exposure.shows_first)
        for (const Gap& gap : gaps.by_frame[index - 1])
            if (gap.between_frames) add(gap);
    return exposure;
}

/// Of `member` at one place, over the frames that show it.
std::vector<double> samples_at(const std::vector<FrameExposure>& frames,
                               std::vector<double> FrameExposure::*member, std::size_t place) {
    std::vector<double> samples;
    for (const FrameExposure& frame : frames)
        if (place > 0 || frame.shows_first) samples.push_back((frame.*member)[place]);
    return samples;
}

double mean(const std::vector<double>& values) {
    return values.empty() ? 0 : sum_of(values, 0, values.size()) / static_cast<double>(values.size());
}

/// Fills `by_place` and `by_frame` of one kind of time.
void summarise(const std::vector<FrameExposure>& frames, std::vector<double> FrameExposure::*member,
               std::vector<double>& by_place, std::vector<double>& by_frame) {
    const std::size_t places = (frames.front().*member).size();
    std::vector<double> means;
    for (std::size_t place = 0; place < places; ++place) {
        std::vector<double> samples = samples_at(frames, member, place);
        means.push_back(mean(samples));
        by_place.push_back(median(std::move(samples)));
    }
    for (const FrameExposure& frame : frames) {
        const std::vector<double>& values = frame.*member;
        by_frame.push_back(sum_of(values, 1, places - 1) +
                           (frame.shows_first ? values.front() : by_place.front()));
    }
    // Gaps are skewed: their medians come to less than the median of their sum.
    if (sum_of(by_place, 0, places) <= 0) by_place = means;
    const double sum = sum_of(by_place, 0, places);
    const double scale = sum > 0 ? median(by_frame) / sum : 0;
    for (double& value : by_place)
        value *= scale;
}

} // namespace

double LaunchExposure::corrected_within(std::size_t first, std::size_t count) const {
    return sum_of(corrected_ns, first, count);
}

double LaunchExposure::traced_within(std::size_t first, std::size_t count) const {
    return sum_of(traced_ns, first, count);
}

LaunchExposure launch_exposure(const TrackFrames& frames, const GapAnalysis& gaps) {
    std::vector<FrameExposure> by_frame;
    for (std::size_t i = 0; i < frames.frames.size(); ++i)
        by_frame.push_back(exposure_of(frames, gaps, i));
    LaunchExposure exposure;
    if (by_frame.empty()) return exposure;
    summarise(by_frame, &FrameExposure::traced_ns, exposure.traced_ns, exposure.frame_traced_ns);
    summarise(by_frame, &FrameExposure::corrected_ns, exposure.corrected_ns, exposure.frame_corrected_ns);
    return exposure;
}

} // namespace deepjit::analyzers
