#pragma once

#include "analyzers/options.hpp"
#include "src/model/report.hpp"
#include "src/model/trace_data.hpp"

namespace deepjit::analyzers {

/// Runs every analyzer on the trace. A trace with no kernels gives a report with kernel_count 0, no frame, no
/// chain and the advice LeaveAlone.
model::Report advise(const model::TraceData& trace, const AdviseOptions& options = {});

} // namespace deepjit::analyzers
