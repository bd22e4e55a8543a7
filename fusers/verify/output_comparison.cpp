#include "fusers/verify/output_comparison.hpp"

#include "fusers/verify/element_codec.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

namespace deepjit::verify {

namespace {

bool repeats(std::span<const std::byte> bytes, std::size_t period_bytes) {
    if (bytes.size() <= period_bytes) return true;
    return std::memcmp(bytes.data(), bytes.data() + period_bytes, bytes.size() - period_bytes) == 0;
}

} // namespace

OutputError measure_stored(std::span<const std::byte> stored, const Expected& expected, graph::DType dtype,
                           graph::Rounding rounding) {
    const std::size_t period_bytes = expected.exact.size() * graph::size_bytes(dtype);
    if (!repeats(stored, period_bytes))
        return measure_error(decode(stored, dtype), expected, dtype, rounding);

    const auto one_period = stored.first(std::min(stored.size(), period_bytes));
    OutputError result = measure_error(decode(one_period, dtype), expected, dtype, rounding);
    result.elements = static_cast<std::int64_t>(stored.size() / graph::size_bytes(dtype));
    return result;
}

std::int64_t count_different_bits(std::span<const std::byte> left, std::span<const std::byte> right,
                                  graph::DType dtype) {
    assert(left.size() == right.size());
    if (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0) return 0;
    const std::size_t width = graph::size_bytes(dtype);
    std::int64_t different = 0;
    for (std::size_t begin = 0; begin < left.size(); begin += width) {
        if (std::memcmp(left.data() + begin, right.data() + begin, width) == 0) continue;
        const bool both_nan = std::isnan(decode(left.subspan(begin, width), dtype).front()) &&
                              std::isnan(decode(right.subspan(begin, width), dtype).front());
        if (!both_nan) ++different;
    }
    return different;
}

} // namespace deepjit::verify
