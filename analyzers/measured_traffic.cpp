#include "analyzers/measured_traffic.hpp"

namespace deepjit::analyzers {
namespace {

/// Of one frame's run of the chain.
std::optional<MeasuredTraffic> sum_of(const model::TraceData& trace,
                                      const std::vector<std::int64_t>& kernel_ids) {
    MeasuredTraffic sum;
    sum.dram_bytes = 0;
    for (const std::int64_t kernel_id : kernel_ids) {
        const auto found = trace.kernel_traffic.find(kernel_id);
        if (found == trace.kernel_traffic.end()) return std::nullopt;
        const trace::KernelTraffic& kernel = found->second;
        if (!kernel.l2_read_bytes || !kernel.l2_written_bytes) return std::nullopt;
        sum.l2_bytes += static_cast<double>(*kernel.l2_read_bytes + *kernel.l2_written_bytes);
        if (!kernel.dram_read_bytes || !kernel.dram_written_bytes)
            sum.dram_bytes.reset();
        else if (sum.dram_bytes)
            *sum.dram_bytes += static_cast<double>(*kernel.dram_read_bytes + *kernel.dram_written_bytes);
    }
    return sum;
}

} // namespace

std::optional<MeasuredTraffic> measured_traffic(const model::TraceData& trace, const model::Chain& chain) {
    MeasuredTraffic total;
    total.dram_bytes = 0;
    double frames = 0;
    for (const std::vector<std::int64_t>& kernel_ids : chain.occurrences) {
        const auto frame = sum_of(trace, kernel_ids);
        if (!frame) continue;
        ++frames;
        total.l2_bytes += frame->l2_bytes;
        if (!frame->dram_bytes)
            total.dram_bytes.reset();
        else if (total.dram_bytes)
            *total.dram_bytes += *frame->dram_bytes;
    }
    if (frames == 0) return std::nullopt;
    total.l2_bytes /= frames;
    if (total.dram_bytes) *total.dram_bytes /= frames;
    return total;
}

} // namespace deepjit::analyzers
