#pragma once

#include "src/base/result.hpp"
#include "src/model/report.hpp"

namespace deepjit::analyzers {

/// Bytes that the chain's arguments span, over all steps and for the whole chain at once: inputs that no
/// earlier step wrote, and written buffers that escape, each once. A pointer that is not const counts as an
/// output. The error names the argument whose footprint or direction is unknown.
Result<model::LogicalTraffic> logical_traffic(const model::Chain& chain);

} // namespace deepjit::analyzers
