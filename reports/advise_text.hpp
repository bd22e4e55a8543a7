#pragma once

#include "src/model/report.hpp"

#include <string>
#include <string_view>

namespace deepjit::reports {

/// The report for a terminal of `width` columns (40 at least), what matters most first: at most 25 lines at
/// 80 columns, more where a narrower one makes facts wrap. Names are shortened, facts never. `trace_path`
/// stands in the next command, which is given whole: words of the shell.
std::string advise_text(const model::Report& report, std::string_view trace_path, std::size_t width = 80);

/// Why a trace holds no kernel that could be advised on: one or two sentences, not wrapped.
std::string no_kernels_text(const model::NoKernels& none);

} // namespace deepjit::reports
