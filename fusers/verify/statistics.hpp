#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// Medians of repeated timings and what may be said of two of them.
namespace deepjit::verify {

/// Median of samples with an interval that needs no assumption about their distribution: the order statistics
/// whose binomial coverage of the median is at least 95 %. Fewer than six samples have no such pair: then the
/// interval is the range, and `covers_95_percent` is false.
struct Estimate {
    double median_ns = 0;
    double low_ns = 0;
    double high_ns = 0;
    std::size_t sample_count = 0;
    bool covers_95_percent = false;
};

/// `samples_ns` must not be empty.
Estimate estimate_median(std::vector<double> samples_ns);

enum class Comparison {
    Faster,    ///< the whole interval lies below the baseline's
    Slower,    ///< the whole interval lies above it
    Ambiguous, ///< the intervals overlap, or one of them is too small to be one
};

Comparison compare(const Estimate& candidate, const Estimate& baseline);

/// "faster", "slower", "AMBIGUOUS".
std::string_view name_of(Comparison comparison);

} // namespace deepjit::verify
