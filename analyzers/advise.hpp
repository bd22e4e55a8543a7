#pragma once

#include "analyzers/options.hpp"
#include "src/model/report.hpp"
#include "src/model/trace_data.hpp"

namespace deepjit::analyzers {

/// Runs every analyzer on the trace. A trace without kernels, or without a frame that repeats, gives a report
/// with no frame, no chain and the advice Withheld.
model::Report advise(const model::TraceData& trace, const AdviseOptions& options = {});

} // namespace deepjit::analyzers
