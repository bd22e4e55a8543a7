#pragma once

#include "src/trace/database.hpp"
#include "src/trace/records.hpp"

#include <cstdint>
#include <optional>
#include <vector>

/// The tables of what the program said with NVTX. TraceWriter and Trace use this.
namespace deepjit::trace {

/// Inserts rows whose strings are interned already; an absent name is NULL.
class NvtxRowWriter {
  public:
    Result<void> prepare(const Database& database);
    /// Gives up the statements, so that the database can be closed.
    void release();

    std::int64_t next_domain_id() { return ++last_domain_id_; }
    std::int64_t next_range_id() { return ++last_range_id_; }

    Result<void> add(const NvtxDomain& domain, std::optional<std::int64_t> name_id);
    /// A category named twice keeps its last name.
    Result<void> add(const NvtxCategory& category, std::optional<std::int64_t> name_id);
    Result<void> add(const NvtxRange& range, std::optional<std::int64_t> name_id);
    Result<void> add(const NvtxOperator& row, std::int64_t operator_id);

  private:
    Statement domain_, category_, range_, operator_;
    std::int64_t last_domain_id_ = 0;
    std::int64_t last_range_id_ = 0;
};

Result<std::vector<NvtxDomain>> read_nvtx_domains(const Database& database);
Result<std::vector<NvtxCategory>> read_nvtx_categories(const Database& database);
Result<std::vector<NvtxRange>> read_nvtx_ranges(const Database& database);
Result<std::vector<NvtxOperator>> read_nvtx_operators(const Database& database);

} // namespace deepjit::trace
