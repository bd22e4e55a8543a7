#pragma once

#include <vector>

namespace deepjit {

/// Of an even number the mean of the middle two; 0 of none.
double median(std::vector<double> values);

} // namespace deepjit
