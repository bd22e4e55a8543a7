#pragma once

#include "src/trace/trace.hpp"
#include "src/wire/reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace deepjit::ingest {

/// Turns the NVTX records of one recording into rows, and knows which range each launch was made in. Holds
/// ranges only while they are open, one pair of ids for each launch inside a range, and the end of each range
/// that another thread than its own ended.
///
/// A launch is in the innermost push/pop range of any domain that its thread has open. Where there is none,
/// it is in the start/end range that its thread started last and nobody has ended: such ranges belong to no
/// thread, and those of other threads say nothing about this launch.
class NvtxRanges {
  public:
    /// All must outlive this. `strings` are the recording's by id and `process` its process, both filled in
    /// before they are referred to.
    NvtxRanges(trace::TraceWriter& trace, const std::unordered_map<std::uint32_t, std::string>& strings,
               const trace::Process& process)
        : trace_(trace), strings_(strings), process_(process) {}

    /// Before anything else: finds the ranges that are ended by other threads, whose end may lie before their
    /// start.
    void read_ahead(wire::Reader recording);

    /// Takes the next record of the recording if it is one of NVTX's.
    bool read(const wire::RecordView& record);

    /// The record of a launch call comes next.
    void add_launch(std::uint32_t thread_id, std::uint32_t correlation_id, std::int64_t start_ns);

    /// After the last record: ranges that are still open get no end.
    void finish();

    /// Of the launch with this correlation id, 0 where it was in none. Call after finish(); fastest in about
    /// the order of the launches.
    std::int64_t range_of_launch(std::uint32_t correlation_id);

  private:
    struct Thread {
        std::vector<trace::NvtxRange> open; ///< pushed, the innermost last
        std::map<std::uint64_t, trace::NvtxRange>
            started;               ///< by id, the latest last; with an end where another thread ends it
        std::size_t prune_at = 64; ///< size of `started` at which ended ones are dropped
    };
    struct Launch {
        std::uint32_t correlation_id;
        std::int64_t range_id;
    };

    Thread& thread(std::uint32_t thread_id);
    /// The database's id of a domain; one whose creation was lost has no name.
    std::int64_t database_domain_id(std::uint32_t domain_id, std::int64_t time_ns);
    trace::NvtxDomain& domain(std::uint32_t domain_id, std::int64_t time_ns);
    std::optional<std::string> name(std::uint32_t name_id) const;
    template <class Event>
    trace::NvtxRange row_of(const wire::RecordView& record, const Event& event, trace::NvtxKind kind);
    void push(const wire::RecordView& record, const wire::NvtxPush& event);
    void pop(std::uint32_t thread_id, const wire::NvtxPop& event);
    void start(const wire::RecordView& record, const wire::NvtxStart& event);
    void end(std::uint32_t thread_id, const wire::NvtxEnd& event);
    void write(const trace::NvtxRange& row);

    trace::TraceWriter& trace_;
    const std::unordered_map<std::uint32_t, std::string>& strings_;
    const trace::Process& process_;
    std::map<std::uint32_t, trace::NvtxDomain> domains_; ///< by the recording's id; the default one is absent
    std::unordered_map<std::int64_t, const trace::NvtxDomain*> domain_rows_; ///< by the database's id
    std::map<std::uint32_t, Thread> threads_;
    std::uint32_t last_thread_id_ = 0;
    Thread* last_thread_ = nullptr;
    std::unordered_map<std::uint64_t, std::int64_t> ends_elsewhere_; ///< end_ns by range id
    std::vector<Launch> launches_;
    std::size_t cursor_ = 0;
};

} // namespace deepjit::ingest
