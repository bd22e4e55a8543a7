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
    struct Pending {
        Track track;
        std::vector<std::vector<std::size_t>> kernels_of_item; ///< beside items, until they are in order
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

    void collect_kernels() {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<Pending*, std::size_t>> graph_items;
        for (std::size_t i = 0; i < trace_.kernels.size(); ++i) {
            const trace::Kernel& kernel = trace_.kernels[i];
            const bool in_graph = kernel.graph_id != 0;
            if (in_graph) {
                const auto found = graph_items.find({kernel.process_id, kernel.correlation_id});
                if (found != graph_items.end()) {
                    auto& [pending, item] = found->second;
                    pending->kernels_of_item[item].push_back(i);
                    TrackItem& launch = pending->track.items[item];
                    launch.end_ns = std::max(launch.end_ns, kernel.end_ns);
                    pending->track.busy_ns += static_cast<double>(kernel.duration_ns());
                    continue;
                }
            }
            Pending& pending = track_of(kernel.process_id, kernel.device_id, kernel.stream_id);
            const std::uint32_t symbol =
                in_graph
                    ? symbol_of({Kind::GraphLaunch, kernel.graph_id, 0})
                    : symbol_of({Kind::Kernel, kernel.config_id, with_arguments_ ? kernel.arguments_id : 0});
            pending.track.items.push_back(
                {in_graph ? Kind::GraphLaunch : Kind::Kernel, symbol, 0, 0, kernel.start_ns, kernel.end_ns});
            pending.kernels_of_item.push_back({i});
            pending.track.busy_ns += static_cast<double>(kernel.duration_ns());
            if (const trace::HostCall* call = trace_.call_of(kernel))
                pending.threads.insert(call->thread_id);
            else
                pending.all_calls_known = false;
            if (in_graph)
                graph_items[{kernel.process_id, kernel.correlation_id}] = {&pending,
                                                                           pending.track.items.size() - 1};
        }
    }

    void collect_memory_ops() {
        for (const trace::MemoryOp& op : trace_.memory_ops) {
            if (op.graph_id != 0) continue; // part of a GraphLaunch item
            Pending& pending = track_of(op.process_id, op.device_id, op.stream_id);
            const std::uint32_t symbol = symbol_of({Kind::MemoryOp, static_cast<std::int64_t>(op.kind), 0});
            pending.track.items.push_back({Kind::MemoryOp, symbol, 0, 0, op.start_ns, op.end_ns});
            pending.kernels_of_item.emplace_back();
        }
    }

    /// A stream runs its work in the order of issue, so that the device's times give that order.
    static void order_items(Pending& pending) {
        std::vector<std::size_t> order(pending.track.items.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return pending.track.items[a].start_ns < pending.track.items[b].start_ns;
        });
        std::vector<TrackItem> items;
        for (const std::size_t i : order) {
            TrackItem item = pending.track.items[i];
            item.first_kernel = pending.track.kernels.size();
            item.kernel_count = pending.kernels_of_item[i].size();
            pending.track.kernels.insert(pending.track.kernels.end(), pending.kernels_of_item[i].begin(),
                                         pending.kernels_of_item[i].end());
            items.push_back(item);
        }
        pending.track.items = std::move(items);
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
    std::map<SymbolKey, std::uint32_t> symbols_;
};

} // namespace

std::vector<Track> find_tracks(const model::TraceData& trace, bool with_arguments) {
    return TrackBuilder(trace, with_arguments).build();
}

} // namespace deepjit::analyzers
