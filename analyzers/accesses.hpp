#pragma once

#include "src/model/chain.hpp"
#include "src/model/trace_data.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace deepjit::analyzers {

/// Which allocation an address lay in at a time.
class AllocationIndex {
  public:
    explicit AllocationIndex(const std::vector<trace::Allocation>& allocations);
    /// Null where no recorded allocation was live there and then.
    const trace::Allocation* find(std::uint32_t process_id, std::uint64_t address,
                                  std::int64_t time_ns) const;

  private:
    struct Entry {
        const trace::Allocation* allocation = nullptr;
        std::uint64_t highest_end = 0; ///< of this and all entries at lower addresses
    };
    std::map<std::uint32_t, std::vector<Entry>> by_process_; ///< by address
};

/// Finds the pointers in the arguments of launches and what the kernels may do with them.
///
/// Direction: from the parameter types (pointer to const: read; other pointers: may read and write), from
/// ATen's argument order (output first), else unknown. Pointers inside by-value structs are found as aligned
/// 8-byte words that lie in an allocation; an integer that looks like such an address is taken for one.
/// Footprint: elements times element size for contiguous ATen kernels; the whole allocation where the pointer
/// is its start and no launch in the trace points into its middle; else unknown (0).
class Accesses {
  public:
    explicit Accesses(const model::TraceData& trace);

    /// Absent where the launch's arguments were not recorded.
    std::optional<std::vector<model::BufferUse>> of(const trace::Kernel& kernel) const;

  private:
    std::vector<model::BufferUse> pointers_of(const trace::Kernel& kernel,
                                              const trace::Arguments& arguments) const;
    void add_words(std::vector<model::BufferUse>& uses, const trace::Kernel& kernel,
                   const trace::Arguments& arguments, trace::Parameter parameter,
                   std::string_view witness) const;
    const trace::Allocation* allocation_at(const trace::Kernel& kernel, std::uint64_t address) const;

    const model::TraceData& trace_;
    AllocationIndex allocations_;
    std::set<std::int64_t> pointed_into_; ///< allocations to whose middle some launch points
};

/// Whether two uses can touch the same byte. Unknown footprints reach to the end of the allocation, or only
/// their own address where that is unknown too.
bool may_overlap(const model::BufferUse& a, const model::BufferUse& b);

} // namespace deepjit::analyzers
