#include "analyzers/traffic.hpp"

#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deepjit::analyzers {
namespace {

/// A set of addresses as disjoint ranges.
class ByteRanges {
  public:
    /// Adds a range and returns how many of its bytes were new.
    std::uint64_t add(std::uint64_t begin, std::uint64_t bytes) {
        std::uint64_t end = begin + bytes;
        std::uint64_t known = 0;
        auto range = ranges_.upper_bound(begin);
        if (range != ranges_.begin() && std::prev(range)->second >= begin) --range;
        const std::uint64_t first = begin;
        const std::uint64_t last = end;
        while (range != ranges_.end() && range->first <= last) {
            const std::uint64_t overlap_begin = std::max(range->first, first);
            const std::uint64_t overlap_end = std::min(range->second, last);
            if (overlap_end > overlap_begin) known += overlap_end - overlap_begin;
            begin = std::min(begin, range->first);
            end = std::max(end, range->second);
            range = ranges_.erase(range);
        }
        ranges_[begin] = end;
        return bytes - known;
    }

  private:
    std::map<std::uint64_t, std::uint64_t> ranges_; ///< begin to end
};

} // namespace

Result<model::LogicalTraffic> logical_traffic(const model::Chain& chain) {
    model::LogicalTraffic traffic;
    ByteRanges inputs_and_written;
    for (std::size_t step = 0; step < chain.steps.size(); ++step) {
        const model::ChainStep& kernel = chain.steps[step];
        const std::string name = printable(base_name_of_function(kernel.name));
        if (kernel.buffers.empty())
            return failure(fmt::format("step {} ({}) has no recorded buffers", step + 1, name));
        for (const model::BufferUse& use : kernel.buffers) {
            if (use.footprint_bytes == 0)
                return failure(
                    fmt::format("the extent of a buffer of step {} ({}) is unknown", step + 1, name));
            if (use.access == model::Access::Unknown)
                return failure(
                    fmt::format("whether step {} ({}) reads or writes a buffer is unknown", step + 1, name));
        }
        // A kernel reads before it writes: an in-place step's input is an input.
        for (const model::BufferUse& use : kernel.buffers) {
            traffic.moved_bytes += static_cast<double>(use.footprint_bytes);
            if (use.access == model::Access::Read)
                traffic.compulsory_bytes +=
                    static_cast<double>(inputs_and_written.add(use.address, use.footprint_bytes));
        }
        for (const model::BufferUse& use : kernel.buffers)
            if (use.access != model::Access::Read) inputs_and_written.add(use.address, use.footprint_bytes);
    }
    ByteRanges outputs;
    for (const model::WrittenBuffer& written : chain.written)
        if (written.escapes)
            traffic.compulsory_bytes +=
                static_cast<double>(outputs.add(written.address, written.footprint_bytes));
    return traffic;
}

} // namespace deepjit::analyzers
