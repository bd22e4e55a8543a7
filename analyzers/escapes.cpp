#include "analyzers/escapes.hpp"

#include "analyzers/tracks.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace deepjit::analyzers {
namespace {

using model::Access;
using model::BufferUse;
using trace::MemoryOpKind;

enum class Fate {
    Overwritten, ///< or freed: nobody outside could read it
    Read,
    Untold, ///< the trace ends first
};

struct Observation {
    Fate fate = Fate::Untold;
    std::string reader;
};

bool covers(std::uint64_t address, std::uint64_t bytes, const BufferUse& buffer) {
    return address <= buffer.address && buffer.address - address <= bytes &&
           bytes - (buffer.address - address) >= buffer.footprint_bytes;
}

bool touches(std::uint64_t address, std::uint64_t bytes, const BufferUse& buffer) {
    if (address >= buffer.address) return address - buffer.address < buffer.footprint_bytes;
    return buffer.address - address < bytes;
}

class EscapeFinder {
  public:
    EscapeFinder(const model::TraceData& trace, const DeviceHistory& history, const Accesses& accesses)
        : trace_(trace), history_(history), accesses_(accesses) {}

    /// What becomes of `buffer` after the kernel `writer`, apart from the kernels of `inside`.
    Observation observe(const BufferUse& buffer, const trace::Kernel& writer,
                        const std::vector<std::int64_t>& inside) const {
        // The order of the stream bounds when its own untimed work ran, but not that of another stream.
        for (const DeviceHistory::Event& event : history_.untimed()) {
            if (event.process_id != writer.process_id || event.stream() == DeviceHistory::stream_of(writer))
                continue;
            Observation seen = seen_by(event, buffer);
            if (seen.fate != Fate::Read) continue;
            seen.reader += ", whose times are not known,";
            return seen;
        }
        const std::int64_t freed_ns = time_of_freeing(buffer);
        for (std::size_t i = history_.first_at(writer.start_ns); i < history_.events().size(); ++i) {
            const DeviceHistory::Event& event = history_.events()[i];
            if (event.process_id != writer.process_id) continue;
            if (event.start_ns >= freed_ns) return {Fate::Overwritten, {}};
            if (event.kernel != nullptr &&
                std::find(inside.begin(), inside.end(), event.kernel->kernel_id) != inside.end())
                continue;
            const Observation seen = seen_by(event, buffer);
            if (seen.fate != Fate::Untold) return seen;
        }
        return {};
    }

  private:
    std::int64_t time_of_freeing(const BufferUse& buffer) const {
        for (const trace::Allocation& allocation : trace_.allocations)
            if (allocation.allocation_id == buffer.allocation_id && buffer.allocation_id != 0 &&
                allocation.end_ns)
                return *allocation.end_ns;
        return std::numeric_limits<std::int64_t>::max();
    }

    Observation seen_by(const DeviceHistory::Event& event, const BufferUse& buffer) const {
        return event.kernel != nullptr ? seen_by(*event.kernel, buffer) : seen_by(*event.memory_op, buffer);
    }

    Observation seen_by(const trace::Kernel& kernel, const BufferUse& buffer) const {
        const trace::KernelConfig* config = trace_.config_of(kernel);
        const std::string name =
            config != nullptr ? elide_middle(printable(base_name_of_function(config->name)), 40) : "unnamed";
        const std::optional<std::vector<BufferUse>> uses = accesses_.of(kernel);
        if (!uses) return {Fate::Read, fmt::format("kernel {}, whose arguments were not recorded", name)};
        bool overwritten = false;
        for (const BufferUse& use : *uses) {
            if (use.access == Access::Write) {
                overwritten |= use.footprint_bytes != 0 && covers(use.address, use.footprint_bytes, buffer);
                continue;
            }
            if (may_overlap(use, buffer))
                return {Fate::Read, fmt::format("kernel {}{}", name,
                                                use.access == Access::Read ? "" : ", which may read it")};
        }
        return {overwritten ? Fate::Overwritten : Fate::Untold, {}};
    }

    static Observation seen_by(const trace::MemoryOp& op, const BufferUse& buffer) {
        const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, op.bytes));
        const bool reads_device = op.kind == MemoryOpKind::DeviceToHost ||
                                  op.kind == MemoryOpKind::DeviceToDevice ||
                                  op.kind == MemoryOpKind::PeerToPeer || op.kind == MemoryOpKind::Other;
        if (reads_device && op.source_address == 0)
            return {Fate::Read, "a copy whose source was not recorded"};
        if (reads_device && touches(op.source_address, bytes, buffer))
            return {Fate::Read, op.kind == MemoryOpKind::DeviceToHost ? "a copy to the host" : "a copy"};
        const bool overwritten = op.destination_address != 0 && covers(op.destination_address, bytes, buffer);
        return {overwritten ? Fate::Overwritten : Fate::Untold, {}};
    }

    const model::TraceData& trace_;
    const DeviceHistory& history_;
    const Accesses& accesses_;
};

bool may_write(const BufferUse& use) {
    return use.access != Access::Read;
}

/// Whether a step after `writer` is passed the buffer for reading.
bool read_inside(const model::Chain& chain, std::size_t writer, const BufferUse& buffer) {
    for (std::size_t step = writer + 1; step < chain.steps.size(); ++step)
        for (const BufferUse& use : chain.steps[step].buffers)
            if (use.access != Access::Write && may_overlap(use, buffer)) return true;
    return false;
}

} // namespace

DeviceHistory::DeviceHistory(const model::TraceData& trace) {
    std::map<Stream, std::map<std::uint32_t, std::int64_t>> starts; // by correlation
    const auto for_all_work = [&trace](const auto& visit) {
        for (const trace::Kernel& kernel : trace.kernels)
            visit(kernel, &kernel, nullptr);
        for (const trace::MemoryOp& op : trace.memory_ops)
            visit(op, nullptr, &op);
    };
    for_all_work([&](const auto& work, const trace::Kernel*, const trace::MemoryOp*) {
        if (has_times(work)) starts[stream_of(work)][work.correlation_id] = work.start_ns;
    });
    events_.reserve(trace.kernels.size() + trace.memory_ops.size());
    for_all_work([&](const auto& work, const trace::Kernel* kernel, const trace::MemoryOp* op) {
        Event event{work.start_ns, work.process_id, kernel, op};
        if (!has_times(work)) {
            const auto& later = starts[stream_of(work)];
            const auto next = later.upper_bound(work.correlation_id);
            event.start_ns = next == later.end() ? std::numeric_limits<std::int64_t>::max() : next->second;
            untimed_.push_back(event);
        }
        events_.push_back(event);
    });
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
        return std::make_pair(a.start_ns, a.is_timed()) < std::make_pair(b.start_ns, b.is_timed());
    });
}

bool DeviceHistory::Event::is_timed() const {
    return kernel != nullptr ? has_times(*kernel) : has_times(*memory_op);
}

DeviceHistory::Stream DeviceHistory::Event::stream() const {
    return kernel != nullptr ? stream_of(*kernel) : stream_of(*memory_op);
}

std::size_t DeviceHistory::first_at(std::int64_t time_ns) const {
    return static_cast<std::size_t>(
        std::lower_bound(events_.begin(), events_.end(), time_ns,
                         [](const Event& event, std::int64_t time) { return event.start_ns < time; }) -
        events_.begin());
}

void find_escapes(model::Chain& chain, const model::TraceData& trace, const DeviceHistory& history,
                  const Accesses& accesses, const AdviseOptions& options) {
    const EscapeFinder finder(trace, history, accesses);
    std::set<std::uint64_t> done;
    for (std::size_t step = 0; step < chain.steps.size(); ++step)
        for (const BufferUse& use : chain.steps[step].buffers) {
            if (!may_write(use) || !done.insert(use.address).second) continue;
            model::WrittenBuffer written{use.address, use.footprint_bytes, static_cast<int>(step), true, ""};
            std::int64_t proved = 0;
            if (!read_inside(chain, step, use)) {
                written.reason = "no later step reads it: an output";
            } else if (use.footprint_bytes == 0) {
                written.reason = "its extent is unknown";
            } else {
                const auto frames =
                    std::min(chain.occurrences.size(), static_cast<std::size_t>(options.escape_frames));
                for (std::size_t frame = 0; frame < frames && written.reason.empty(); ++frame) {
                    const trace::Kernel* writer = trace.kernel(chain.occurrences[frame][step]);
                    const auto uses = accesses.of(*writer);
                    const auto same_argument = [&](const BufferUse& other) {
                        return other.argument_offset == use.argument_offset;
                    };
                    if (!uses || std::none_of(uses->begin(), uses->end(), same_argument)) {
                        written.reason =
                            fmt::format("its arguments were not recorded in frame {}", frame + 1);
                        break;
                    }
                    const BufferUse& here = *std::find_if(uses->begin(), uses->end(), same_argument);
                    const Observation seen = finder.observe(here, *writer, chain.occurrences[frame]);
                    if (seen.fate == Fate::Read)
                        written.reason = fmt::format("{} in frame {}", seen.reader, frame + 1);
                    proved += seen.fate == Fate::Overwritten ? 1 : 0;
                }
                if (written.reason.empty() && proved == 0)
                    written.reason = "the trace ends before it is overwritten";
            }
            written.escapes = !written.reason.empty();
            if (!written.escapes)
                written.reason =
                    fmt::format("overwritten unread in {} frame{}", proved, proved == 1 ? "" : "s");
            chain.written.push_back(std::move(written));
        }
}

} // namespace deepjit::analyzers
