#include "analyzers/statistics.hpp"

#include "src/base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace deepjit::analyzers {

double percentile(std::vector<double> values, double share) {
    if (values.empty()) return 0;
    const double rank = std::ceil(share * static_cast<double>(values.size())) - 1;
    const auto index =
        static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
    return values[index];
}

model::Range spread_of(const std::vector<double>& values) {
    return {percentile(values, 0.1), median(values), percentile(values, 0.9)};
}

} // namespace deepjit::analyzers
