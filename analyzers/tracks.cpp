#include "analyzers/tracks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace deepjit::analyzers {
namespace {

using Kind = TrackItem::Kind;
using TrackKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // process, device, stream
using SymbolKey = std::tuple<Kind, std::int64_t, std::int64_t>;

class TrackBuilder {
  public:
    TrackBuilder(const model::TraceData& trace, bool with_arguments)
        : trace_(trace), with_arguments_(with_arguments) {}

    std::vector<Track> build() {
        collect_kernels();
        collect_memory_ops();
        for (auto& [key, pending] : tracks_) {
            order_items(pending);
            insert_synchronisation(pending);
        }
        std::vector<Track> tracks;
        for (auto& [key, pending] : tracks_)
            if (!pending.track.kernels.empty()) tracks.push_back(std::move(pending.track));
        std::stable_sort(tracks.begin(), tracks.end(), [](const Track& a, const Track& b) {
            return std::make_pair(a.kernels.size(), a.busy_ns) > std::make_pair(b.kernels.size(), b.busy_ns);
        });
        return tracks;
    }

  private:
    struct PendingItem {
        TrackItem item;
        std::vector<std::size_t> kernels;
        std::uint32_t correlation_id = 0; ///< of the call; they count up in the order of the calls
    };
    struct Pending {
        Track track;
        std::vector<PendingItem> items;
        bool all_calls_known = true;
        std::set<std::uint32_t> threads; ///< that launched on it
    };

    Pending& track_of(std::uint32_t process, std::uint32_t device, std::uint32_t stream) {
        Pending& pending = tracks_[{process, device, stream}];
        pending.track.process_id = process;
        pending.track.device_id = device;
        pending.track.stream_id = stream;
        return pending;
    }

    std::uint32_t symbol_of(const SymbolKey& key) {
        return symbols_.emplace(key, static_cast<std::uint32_t>(symbols_.size())).first->second;
    }

    /// Those with times first, so that a graph's place does not rest on a kernel that has none.
    void collect_kernels() {
        for (const bool timed : {true, false})
            for (std::size_t i = 0; i < trace_.kernels.size(); ++i)
                if (has_times(trace_.kernels[i]) == timed) add_kernel(i);
    }

    void add_kernel(std::size_t index) {
        const trace::Kernel& kernel = trace_.kernels[index];
        const bool timed = has_times(kernel);
        const bool in_graph = kernel.graph_id != 0;
        const std::pair launch(kernel.process_id, kernel.correlation_id);
        if (const auto found = graph_items_.find(launch); in_graph && found != graph_items_.end()) {
            auto& [pending, item] = found->second;
            PendingItem& graph = pending->items[item];
            graph.kernels.push_back(index);
            graph.item.end_ns = std::max(graph.item.end_ns, kernel.end_ns);
            graph.item.is_timed = graph.item.is_timed && timed;
            if (timed) pending->track.busy_ns += static_cast<double>(kernel.duration_ns());
            return;
        }
        Pending& pending = track_of(kernel.process_id, kernel.device_id, kernel.stream_id);
        if (in_graph) graph_items_[launch] = {&pending, pending.items.size()};
        TrackItem item;
        item.kind = in_graph ? Kind::GraphLaunch : Kind::Kernel;
        item.symbol =
            in_graph ? symbol_of({Kind::GraphLaunch, kernel.graph_id, 0})
                     : symbol_of({Kind::Kernel, kernel.config_id, with_arguments_ ? kernel.arguments_id : 0});
        item.is_timed = timed;
        if (timed) {
            item.start_ns = kernel.start_ns;
            item.end_ns = kernel.end_ns;
            pending.track.busy_ns += static_cast<double>(kernel.duration_ns());
        }
        pending.items.push_back({item, {index}, kernel.correlation_id});
        if (const trace::HostCall* call = trace_.call_of(kernel))
            pending.threads.insert(call->thread_id);
        else
            pending.all_calls_known = false;
    }

    void collect_memory_ops() {
        for (const trace::MemoryOp& op : trace_.memory_ops) {
            if (op.graph_id != 0) continue; // part of a GraphLaunch item
            TrackItem item;
            item.kind = Kind::MemoryOp;
            item.symbol = symbol_of({Kind::MemoryOp, static_cast<std::int64_t>(op.kind), 0});
            item.is_timed = has_times(op);
            if (item.is_timed) {
                item.start_ns = op.start_ns;
                item.end_ns = op.end_ns;
            }
            track_of(op.process_id, op.device_id, op.stream_id)
                .items.push_back({item, {}, op.correlation_id});
        }
    }

    /// A stream runs its work in the order of issue, so that the device's times give that order. What has
    /// none goes before the first item that was issued after it.
    static void order_items(Pending& pending) {
        const auto has_start = [](const PendingItem& item) { return item.item.start_ns > 0; };
        std::vector<PendingItem>& items = pending.items;
        const auto untimed = std::stable_partition(items.begin(), items.end(), has_start);
        std::stable_sort(items.begin(), untimed, [](const PendingItem& a, const PendingItem& b) {
            return a.item.start_ns < b.item.start_ns;
        });
        std::stable_sort(untimed, items.end(), [](const PendingItem& a, const PendingItem& b) {
            return a.correlation_id < b.correlation_id;
        });
        auto next_untimed = untimed;
        const auto append = [&pending](const PendingItem& added) {
            TrackItem item = added.item;
            item.first_kernel = pending.track.kernels.size();
            item.kernel_count = added.kernels.size();
            pending.track.kernels.insert(pending.track.kernels.end(), added.kernels.begin(),
                                         added.kernels.end());
            pending.track.items.push_back(item);
        };
        for (auto timed = items.begin(); timed != untimed; ++timed) {
            for (; next_untimed != items.end() && next_untimed->correlation_id < timed->correlation_id;
                 ++next_untimed)
                append(*next_untimed);
            append(*timed);
        }
        std::for_each(next_untimed, items.end(), append);
    }

    void insert_synchronisation(Pending& pending) {
        if (!pending.all_calls_known) return;
        std::vector<TrackItem> waits;
        const std::uint32_t symbol = symbol_of({Kind::Synchronise, 0, 0});
        for (const trace::HostCall& call : trace_.host_calls)
            if (call.category == trace::CallCategory::Synchronise &&
                call.process_id == pending.track.process_id && pending.threads.count(call.thread_id) != 0)
                waits.push_back({Kind::Synchronise, symbol, 0, 0, call.start_ns, call.end_ns});
        std::vector<TrackItem> merged;
        std::size_t next_wait = 0;
        for (const TrackItem& item : pending.track.items) {
            if (item.kernel_count > 0) {
                const trace::Kernel& first = trace_.kernels[pending.track.kernels[item.first_kernel]];
                const std::int64_t issued_ns = trace_.call_of(first)->start_ns;
                for (; next_wait < waits.size() && waits[next_wait].start_ns < issued_ns; ++next_wait)
                    merged.push_back(waits[next_wait]);
            }
            merged.push_back(item);
        }
        merged.insert(merged.end(), waits.begin() + static_cast<std::ptrdiff_t>(next_wait), waits.end());
        pending.track.items = std::move(merged);
    }

    const model::TraceData& trace_;
    bool with_arguments_;
    std::map<TrackKey, Pending> tracks_;
    /// Item of each graph launch, by process and correlation.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Pending*, std::size_t>> graph_items_;
    std::map<SymbolKey, std::uint32_t> symbols_;
};

} // namespace

std::vector<Track> find_tracks(const model::TraceData& trace, bool with_arguments) {
    return TrackBuilder(trace, with_arguments).build();
}

} // namespace deepjit::analyzers
