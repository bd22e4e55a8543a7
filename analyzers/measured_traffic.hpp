#pragma once

#include "src/model/chain.hpp"
#include "src/model/trace_data.hpp"

#include <optional>

namespace deepjit::analyzers {

/// Bytes that the device moved for a chain, measured: means over the frames whose kernels all have figures.
struct MeasuredTraffic {
    double l2_bytes = 0; ///< read and written, hit or miss
    std::optional<double> dram_bytes;
};

/// Absent where no frame has L2 figures of every step.
std::optional<MeasuredTraffic> measured_traffic(const model::TraceData& trace, const model::Chain& chain);

} // namespace deepjit::analyzers
