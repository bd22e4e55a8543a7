#include "analyzers/chains.hpp"

#include "src/base/statistics.hpp"
#include "src/model/kernel_signature.hpp"

#include <algorithm>
#include <map>

namespace deepjit::analyzers {
namespace {

using Kind = TrackItem::Kind;
using model::Access;
using model::Dependence;

/// One kernel of the representative frame.
struct Candidate {
    std::size_t kernel = 0;   ///< index into TraceData::kernels
    std::size_t position = 0; ///< among the frame's kernels
    double busy_ns = 0;       ///< median over frames
    std::optional<std::vector<model::BufferUse>> uses;
};

class ChainFinder {
  public:
    ChainFinder(const model::TraceData& trace, const TrackFrames& frames, const Accesses& accesses,
                const AdviseOptions& options)
        : trace_(trace), frames_(frames), accesses_(accesses), options_(options),
          frame_(representative_frame(frames)) {}

    std::vector<FoundChain> find() {
        std::size_t position = 0;
        for (std::size_t i = 0; i < frames_.items_per_frame; ++i) {
            const TrackItem& item = frames_.track.items[frame_.first_item + i];
            if (item.kind != Kind::Kernel) end_run(); // copies, waits and graph launches stand between
            for (std::size_t k = 0; k < item.kernel_count; ++k)
                add_kernel(position++);
            if (item.kind == Kind::GraphLaunch) end_run();
        }
        end_run();
        return std::move(chains_);
    }

  private:
    void add_kernel(std::size_t position) {
        Candidate candidate;
        candidate.position = position;
        candidate.kernel = frame_.kernels[position];
        std::vector<double> durations;
        for (const Frame& frame : frames_.frames)
            durations.push_back(static_cast<double>(trace_.kernels[frame.kernels[position]].duration_ns()));
        candidate.busy_ns = median(std::move(durations));
        const trace::Kernel& kernel = trace_.kernels[candidate.kernel];
        const trace::KernelConfig* config = trace_.config_of(kernel);
        const bool opaque = config == nullptr || model::is_library_kernel(config->name);
        if (opaque || candidate.busy_ns >= options_.short_kernel_ns) {
            end_run();
            return;
        }
        // Branches of a graph run side by side: what overlaps is no chain.
        if (!run_.empty() && kernel.start_ns < trace_.kernels[run_.back().kernel].end_ns) end_run();
        candidate.uses = accesses_.of(kernel);
        run_.push_back(std::move(candidate));
    }

    /// How step `later` of the run needs step `earlier`.
    Dependence dependence(std::size_t earlier, std::size_t later) const {
        if (!run_[earlier].uses || !run_[later].uses)
            return earlier + 1 == later ? Dependence::Assumed : Dependence::None;
        Dependence strongest = Dependence::None;
        for (const model::BufferUse& written : *run_[earlier].uses)
            for (const model::BufferUse& used : *run_[later].uses) {
                const Dependence flow = flow_between(written, used);
                if (flow == Dependence::Proved) return flow;
                if (flow == Dependence::Assumed) strongest = flow;
            }
        return strongest;
    }

    /// Cuts the run wherever no later step needs an earlier one, and keeps what is longer than one step.
    void end_run() {
        const std::size_t count = run_.size();
        std::vector<Dependence> needs(count, Dependence::None);
        std::vector<std::size_t> earliest(count); // step that step i or a later one needs, from i on
        for (std::size_t later = 0; later < count; ++later) {
            earliest[later] = later;
            for (std::size_t earlier = 0; earlier < later; ++earlier) {
                const Dependence found = dependence(earlier, later);
                if (found == Dependence::None) continue;
                earliest[later] = std::min(earliest[later], earlier);
                if (needs[later] != Dependence::Proved) needs[later] = found;
            }
        }
        for (std::size_t i = count; i-- > 1;)
            earliest[i - 1] = std::min(earliest[i - 1], earliest[i]);
        std::size_t begin = 0;
        for (std::size_t i = 1; i <= count; ++i)
            if (i == count || earliest[i] >= i) {
                if (i - begin >= 2) chains_.push_back(make_chain(begin, i, needs));
                begin = i;
            }
        run_.clear();
    }

    FoundChain make_chain(std::size_t begin, std::size_t end, const std::vector<Dependence>& needs) const {
        FoundChain found;
        found.first_position = run_[begin].position;
        const trace::Kernel& first = trace_.kernels[run_[begin].kernel];
        found.chain.device_id = first.device_id;
        found.chain.stream_id = first.stream_id;
        found.chain.in_graph = first.graph_id != 0;
        for (std::size_t i = begin; i < end; ++i) {
            const trace::Kernel& kernel = trace_.kernels[run_[i].kernel];
            found.chain.steps.push_back({kernel.kernel_id, trace_.config_of(kernel)->name, needs[i],
                                         run_[i].uses.value_or(std::vector<model::BufferUse>{}),
                                         run_[i].busy_ns});
        }
        for (const Frame& frame : frames_.frames) {
            std::vector<std::int64_t> kernel_ids;
            for (std::size_t i = begin; i < end; ++i)
                kernel_ids.push_back(trace_.kernels[frame.kernels[run_[i].position]].kernel_id);
            found.chain.occurrences.push_back(std::move(kernel_ids));
        }
        return found;
    }

    const model::TraceData& trace_;
    const TrackFrames& frames_;
    const Accesses& accesses_;
    const AdviseOptions& options_;
    const Frame& frame_;
    std::vector<Candidate> run_;
    std::vector<FoundChain> chains_;
};

} // namespace

Dependence flow_between(const model::BufferUse& earlier, const model::BufferUse& later) {
    if (earlier.access == Access::Read || later.access == Access::Write) return Dependence::None;
    const bool same_start = earlier.address == later.address;
    const bool known = earlier.footprint_bytes != 0 && later.footprint_bytes != 0;
    if (!same_start && (!known || !may_overlap(earlier, later))) return Dependence::None;
    return earlier.access == Access::Unknown ? Dependence::Assumed : Dependence::Proved;
}

std::vector<FoundChain> find_chains(const model::TraceData& trace, const TrackFrames& frames,
                                    const Accesses& accesses, const AdviseOptions& options) {
    if (frames.frames.empty()) return {};
    return ChainFinder(trace, frames, accesses, options).find();
}

} // namespace deepjit::analyzers
