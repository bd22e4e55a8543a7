#include "fusers/verify/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace deepjit::verify {

namespace {

constexpr double kTail = 0.025; // of each side of a 95 % interval

/// Largest k for which the k-th smallest and the k-th largest of `count` samples enclose the median with at
/// least 95 %: P(Binomial(count, 1/2) < k) <= 2.5 %. 0 where there is none.
std::size_t interval_rank(std::size_t count) {
    const auto n = static_cast<double>(count);
    const auto log_probability = [n](double k) {
        return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0);
    };
    double below = 0;
    std::size_t rank = 0;
    while (rank < count / 2) {
        below += std::exp(log_probability(static_cast<double>(rank)));
        if (below > kTail) break;
        ++rank;
    }
    return rank;
}

} // namespace

Estimate estimate_median(std::vector<double> samples_ns) {
    assert(!samples_ns.empty());
    std::sort(samples_ns.begin(), samples_ns.end());
    const std::size_t count = samples_ns.size();
    const std::size_t middle = count / 2;
    const std::size_t rank = interval_rank(count);

    Estimate estimate;
    estimate.sample_count = count;
    estimate.median_ns =
        count % 2 == 1 ? samples_ns[middle] : (samples_ns[middle - 1] + samples_ns[middle]) / 2;
    estimate.covers_95_percent = rank > 0;
    estimate.low_ns = samples_ns[rank > 0 ? rank - 1 : 0];
    estimate.high_ns = samples_ns[rank > 0 ? count - rank : count - 1];
    return estimate;
}

Comparison compare(const Estimate& candidate, const Estimate& baseline) {
    if (!candidate.covers_95_percent || !baseline.covers_95_percent) return Comparison::Ambiguous;
    if (candidate.high_ns < baseline.low_ns) return Comparison::Faster;
    if (candidate.low_ns > baseline.high_ns) return Comparison::Slower;
    return Comparison::Ambiguous;
}

std::string_view name_of(Comparison comparison) {
    switch (comparison) {
    case Comparison::Faster:
        return "faster";
    case Comparison::Slower:
        return "slower";
    case Comparison::Ambiguous:
        break;
    }
    return "AMBIGUOUS";
}

} // namespace deepjit::verify
