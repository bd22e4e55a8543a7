#pragma once

#include "analyzers/accesses.hpp"
#include "analyzers/options.hpp"
#include "src/model/chain.hpp"
#include "src/model/trace_data.hpp"

#include <tuple>
#include <vector>

namespace deepjit::analyzers {

/// Everything a process's devices did, in order of start. Work without times stands just before what its
/// stream was given next, or at the end, so that the order within a stream is right.
class DeviceHistory {
  public:
    explicit DeviceHistory(const model::TraceData& trace);

    using Stream = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; ///< process, device, stream
    template <class Work>
    static Stream stream_of(const Work& work) {
        return {work.process_id, work.device_id, work.stream_id};
    }

    struct Event {
        std::int64_t start_ns = 0;
        std::uint32_t process_id = 0;
        const trace::Kernel* kernel = nullptr; ///< one of the two
        const trace::MemoryOp* memory_op = nullptr;

        bool is_timed() const;
        Stream stream() const;
    };
    const std::vector<Event>& events() const { return events_; }
    /// Those of them whose times CUPTI could not take.
    const std::vector<Event>& untimed() const { return untimed_; }
    /// Index of the first event that starts at or after the time.
    std::size_t first_at(std::int64_t time_ns) const;

  private:
    std::vector<Event> events_;
    std::vector<Event> untimed_;
};

/// Fills in Chain::written. A buffer stays inside only when a later step reads it and, in every frame looked
/// at (`escape_frames` of them at most), each of its bytes is overwritten or freed before any kernel, copy or
/// other process step outside this occurrence of the chain could read it. Kernels without recorded arguments
/// and copies with unknown source read everything; work without times of another stream may run at any time;
/// a pointer that is not const in a signature may be read. A frame that the end of the trace cuts short
/// proves nothing either way. False positive: memory that the host reads directly (managed or mapped) leaves
/// no record.
void find_escapes(model::Chain& chain, const model::TraceData& trace, const DeviceHistory& history,
                  const Accesses& accesses, const AdviseOptions& options);

} // namespace deepjit::analyzers
