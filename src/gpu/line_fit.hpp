#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace deepjit::gpu {

struct Line {
    double intercept = 0;
    double slope = 0;
};

/// Theil–Sen: the median of the slopes through each two points, then the median intercept, so that a few
/// disturbed measurements do not move it. Nothing for fewer than two different x.
std::optional<Line> fit_line(const std::vector<std::pair<double, double>>& points);

/// Of an even number the mean of the middle two; 0 of none.
double median(std::vector<double> values);

} // namespace deepjit::gpu
