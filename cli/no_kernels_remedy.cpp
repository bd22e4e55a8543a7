#include "cli/no_kernels_remedy.hpp"

namespace deepjit::cli {

using Cause = model::NoKernels::Cause;

std::string_view remedy_for(Cause cause) {
    switch (cause) {
    case Cause::DriverNotInitialised:
    case Cause::NothingLaunched:
        return "record a program that launches kernels: deepjit profile -- PROGRAM";
    case Cause::NothingSelected:
        return "check --skip, --delay, --range and --start-with-profiler-api, and record again";
    case Cause::GraphLevel:
        return "record the kernels in the graphs, too: deepjit profile without --graph-level";
    case Cause::CutOff:
        return "record it again and let it run longer, or end by itself";
    case Cause::RecordsMissing:
    case Cause::NotWatched:
        return "'deepjit doctor' checks the driver, CUPTI and the tracer one by one; then record again";
    }
    return {};
}

ExitCode exit_code_of(Cause cause) {
    switch (cause) {
    case Cause::DriverNotInitialised:
    case Cause::NothingLaunched:
    case Cause::NothingSelected:
    case Cause::GraphLevel:
        return ExitCode::Done;
    case Cause::CutOff:
    case Cause::RecordsMissing:
    case Cause::NotWatched:
        return ExitCode::Failed;
    }
    return ExitCode::Failed;
}

} // namespace deepjit::cli
