#pragma once

#include "src/model/report.hpp"

#include <string>
#include <string_view>

namespace deepjit::reports {

/// The report for a terminal: at most 25 lines within `width` columns (80 at least), what matters most first.
/// `trace_path` is for the next command.
std::string advise_text(const model::Report& report, std::string_view trace_path, std::size_t width = 80);

} // namespace deepjit::reports
