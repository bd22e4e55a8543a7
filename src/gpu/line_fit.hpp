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

} // namespace deepjit::gpu
