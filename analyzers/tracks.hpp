#pragma once

#include "src/model/trace_data.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace deepjit::analyzers {

/// One thing that happened on a stream, in the order in which the program issued it.
struct TrackItem {
    enum class Kind { Kernel, GraphLaunch, MemoryOp, Synchronise };
    Kind kind = Kind::Kernel;
    std::uint32_t symbol = 0;     ///< equal for items that are the same work again
    std::size_t first_kernel = 0; ///< into Track::kernels; Kernel and GraphLaunch only
    std::size_t kernel_count = 0;
    std::int64_t start_ns = 0; ///< on the device; of the call for Synchronise
    std::int64_t end_ns = 0;
    bool is_timed = true; ///< false where CUPTI could not take a time of it or, of a graph, of a kernel in it
};

/// Whether CUPTI took both times of a kernel, copy or memset.
template <class Work>
bool has_times(const Work& work) {
    return work.start_ns > 0 && work.end_ns >= work.start_ns;
}

/// The work of one stream of one process. Kernels of a CUDA Graph belong to the stream of their first kernel,
/// wherever the graph's branches ran, and are one item.
struct Track {
    std::uint32_t process_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t stream_id = 0;
    std::vector<std::size_t> kernels; ///< indices into TraceData::kernels
    std::vector<TrackItem> items;
    double busy_ns = 0; ///< sum over its kernels
};

/// All tracks that have kernels, the one with most first. What tells items apart is the kernel's
/// configuration (name, grid, block, shared memory), the graph, or the kind of copy; with `with_arguments`
/// the arguments too. Host synchronisation appears where all launches have their calls recorded. Work without
/// times stands where its launch call stands among those of the stream.
std::vector<Track> find_tracks(const model::TraceData& trace, bool with_arguments = false);

} // namespace deepjit::analyzers
