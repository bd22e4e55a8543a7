#pragma once

#include "src/model/report.hpp"
#include "src/model/trace_data.hpp"

namespace deepjit::analyzers {

/// Why a trace without kernels holds none, by what its processes left: no process is one that never
/// initialised the driver; launch calls without kernels are records that never arrived.
model::NoKernels why_no_kernels(const model::TraceData& trace);

} // namespace deepjit::analyzers
