#include "analyzers/no_kernels.hpp"

#include <algorithm>

namespace deepjit::analyzers {

model::NoKernels why_no_kernels(const model::TraceData& trace) {
    using Cause = model::NoKernels::Cause;
    using trace::CallCategory;
    model::NoKernels none;
    none.launches_called =
        std::count_if(trace.host_calls.begin(), trace.host_calls.end(), [](const trace::HostCall& call) {
            const bool launch =
                call.category == CallCategory::Launch || call.category == CallCategory::GraphLaunch;
            return launch && !call.capturing;
        });
    none.tracer_error = trace.tracer_error;
    const bool cut_off = std::any_of(trace.processes.begin(), trace.processes.end(),
                                     [](const trace::Process& process) { return !process.end_ns; });
    none.graph_launches = static_cast<std::int64_t>(trace.graph_launches.size());
    for (const trace::GraphLaunch& launch : trace.graph_launches)
        none.graph_ns += launch.end_ns - launch.start_ns;
    if (none.graph_launches > 0)
        none.cause = Cause::GraphLevel;
    else if (none.launches_called > 0 && !(cut_off && none.tracer_error.empty()))
        none.cause = Cause::RecordsMissing;
    else if (!none.tracer_error.empty())
        none.cause = Cause::NotWatched;
    else if (trace.processes.empty())
        none.cause = Cause::DriverNotInitialised;
    else if (trace.selects_part && trace.windows.empty())
        none.cause = Cause::NothingSelected;
    else
        none.cause = cut_off ? Cause::CutOff : Cause::NothingLaunched;
    return none;
}

} // namespace deepjit::analyzers
