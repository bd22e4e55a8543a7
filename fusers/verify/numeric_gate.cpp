#include "fusers/verify/numeric_gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace deepjit::verify {

namespace {

enum class ValueClass { Finite, NaN, PositiveInfinity, NegativeInfinity };

ValueClass class_of(double value) {
    if (std::isnan(value)) return ValueClass::NaN;
    if (std::isinf(value)) return value > 0 ? ValueClass::PositiveInfinity : ValueClass::NegativeInfinity;
    return ValueClass::Finite;
}

double root_mean_square_of_finite(const graph::Values& values) {
    double sum = 0;
    std::int64_t count = 0;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        sum += value * value;
        ++count;
    }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

void add_mismatch(OutputError& result, std::int64_t index, double got, double expected) {
    if (result.mismatches++ > 0) return;
    result.first_mismatch = index;
    result.first_mismatch_got = got;
    result.first_mismatch_expected = expected;
}

OutputError measure_integers(const graph::Values& got, const graph::Values& rounded) {
    OutputError result;
    result.elements = static_cast<std::int64_t>(got.size());
    for (std::size_t i = 0, k = 0; i < got.size(); ++i, k = k + 1 == rounded.size() ? 0 : k + 1)
        if (got[i] != rounded[k]) add_mismatch(result, static_cast<std::int64_t>(i), got[i], rounded[k]);
    return result;
}

} // namespace

OutputError measure_error(const graph::Values& got, const Expected& expected, graph::DType dtype,
                          graph::Rounding rounding) {
    assert(!expected.exact.empty() && expected.exact.size() == expected.rounded.size());
    if (!graph::is_floating(dtype)) return measure_integers(got, expected.rounded);

    const std::size_t period = expected.exact.size();
    std::vector<ValueClass> exact_class(period);
    std::vector<ValueClass> rounded_class(period);
    for (std::size_t k = 0; k < period; ++k) {
        exact_class[k] = class_of(graph::round_to(dtype, expected.exact[k]));
        rounded_class[k] = class_of(expected.rounded[k]);
    }
    const double typical = root_mean_square_of_finite(expected.exact);

    OutputError result;
    result.elements = static_cast<std::int64_t>(got.size());
    for (std::size_t i = 0, k = 0; i < got.size(); ++i, k = k + 1 == period ? 0 : k + 1) {
        const ValueClass got_class = class_of(got[i]);
        const bool follows_rounded = got_class == rounded_class[k];
        const bool follows_exact = rounding == graph::Rounding::Wide && got_class == exact_class[k];
        if (!follows_rounded && !follows_exact) {
            add_mismatch(result, static_cast<std::int64_t>(i), got[i], expected.rounded[k]);
            continue;
        }
        if (exact_class[k] != ValueClass::Finite || rounded_class[k] != ValueClass::Finite) continue;
        const double scale = std::max(std::fabs(expected.exact[k]), typical);
        const double difference = std::fabs(got[i] - expected.exact[k]);
        if (difference > 0) result.error = std::max(result.error, difference / scale);
    }
    return result;
}

void merge(OutputError& total, const OutputError& more) {
    if (total.mismatches == 0 && more.mismatches > 0) {
        total.first_mismatch = more.first_mismatch;
        total.first_mismatch_got = more.first_mismatch_got;
        total.first_mismatch_expected = more.first_mismatch_expected;
    }
    total.error = std::max(total.error, more.error);
    total.elements += more.elements;
    total.mismatches += more.mismatches;
}

double margin_for(graph::DType dtype) {
    return graph::epsilon_of(dtype);
}

GateResult judge(const OutputError& fused, const OutputError& original, graph::DType dtype,
                 const std::string& output_name) {
    if (fused.elements == 0) return {false, fmt::format("{}: nothing was compared", output_name)};
    if (original.mismatches > 0)
        return {false,
                fmt::format("{}: the original kernels disagree with the chain's meaning in {} of {} elements "
                            "(element {}: {}, expected {}), so nothing can be judged by them",
                            output_name, original.mismatches, original.elements, original.first_mismatch,
                            original.first_mismatch_got, original.first_mismatch_expected)};
    if (fused.mismatches > 0)
        return {false,
                fmt::format("{}: {} of {} elements are of another kind than they must be (element {}: {}, "
                            "expected {})",
                            output_name, fused.mismatches, fused.elements, fused.first_mismatch,
                            fused.first_mismatch_got, fused.first_mismatch_expected)};
    const double limit = original.error + margin_for(dtype);
    // Written so that a NaN error fails.
    if (!(fused.error <= limit))
        return {false,
                fmt::format("{}: the fused error {:.3g} exceeds the original's {:.3g} plus the margin {:.3g}",
                            output_name, fused.error, original.error, margin_for(dtype))};
    return {true,
            fmt::format("{}: the fused error {:.3g} is within the original's {:.3g} plus the margin {:.3g}",
                        output_name, fused.error, original.error, margin_for(dtype))};
}

} // namespace deepjit::verify
