#pragma once

#include "src/model/report.hpp"

#include <string>

namespace deepjit::tests {

/// The report as rows that a case expects, numbers with three decimals at most; microseconds.
std::string rows_of(const model::Report& report);

} // namespace deepjit::tests
