#include "src/gpu/line_fit.hpp"

#include "src/base/statistics.hpp"

namespace deepjit::gpu {

std::optional<Line> fit_line(const std::vector<std::pair<double, double>>& points) {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (points[i].first != points[j].first)
                slopes.push_back((points[i].second - points[j].second) / (points[i].first - points[j].first));
    if (slopes.empty()) return std::nullopt;
    Line line;
    line.slope = median(std::move(slopes));
    std::vector<double> intercepts;
    for (const auto& [x, y] : points)
        intercepts.push_back(y - line.slope * x);
    line.intercept = median(std::move(intercepts));
    return line;
}

} // namespace deepjit::gpu
