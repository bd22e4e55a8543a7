#pragma once

#include "src/model/report.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Value below which `share` of the values lie (nearest rank); 0 for none. 0.5 is the median.
double percentile(std::vector<double> values, double share);
double median(std::vector<double> values);

/// 10th, 50th and 90th percentile.
model::Range spread_of(const std::vector<double>& values);

} // namespace deepjit::analyzers
