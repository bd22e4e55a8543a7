#pragma once

#include "src/model/report.hpp"

#include <vector>

namespace deepjit::analyzers {

/// Value below which `share` of the values lie (nearest rank); 0 for none.
double percentile(std::vector<double> values, double share);

/// 10th percentile, median, 90th percentile.
model::Range spread_of(const std::vector<double>& values);

} // namespace deepjit::analyzers
