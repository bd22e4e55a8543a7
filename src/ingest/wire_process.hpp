#pragma once

#include "src/ingest/captured_buffers.hpp"
#include "src/ingest/graph_nodes.hpp"
#include "src/ingest/import_wire.hpp"
#include "src/ingest/kernel_traffic.hpp"
#include "src/ingest/module_images.hpp"
#include "src/ingest/nvtx_ranges.hpp"
#include "src/ingest/recording_windows.hpp"
#include "src/trace/trace.hpp"
#include "src/wire/reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace deepjit::ingest {

/// Turns the recording of one process into rows. First definitions and calls are read, then what refers to
/// them: a kernel's record may stand before that of the call that launched it.
class WireProcess {
  public:
    /// `process_id` is what the file's name says, for a recording that lost its start. `correlation_offset`
    /// is added to every correlation id: two images of one process (exec) both count from 1.
    WireProcess(trace::TraceWriter& trace, ModuleImages& images, CapturedBuffers& captures,
                std::uint32_t process_id, std::uint32_t correlation_offset);

    /// Tells `traffic` of every kernel, so that figures of another run can be joined to them.
    void join_traffic(KernelTraffic& traffic) { traffic_ = &traffic; }

    /// `reader` stands at the start of the recording.
    void import(const wire::Reader& reader);

    const ProcessSummary& summary() const { return summary_; }
    std::int64_t memory_ops() const { return memory_ops_; }
    std::int64_t host_calls() const { return host_calls_; }
    std::int64_t unresolved_references() const { return unresolved_references_; }
    /// The largest one written, offset included.
    std::uint32_t last_correlation_id() const { return last_correlation_id_; }

  private:
    struct Site {
        wire::KernelSite wire;
        std::int64_t config_id = 0; ///< the database's
    };
    struct Api {
        trace::CallCategory category = trace::CallCategory::Other;
        std::string name;
    };
    /// A launch call that succeeded. Twenty million take 320 MB, the most of an import's memory.
    struct Launch {
        std::uint32_t correlation_id = 0;
        std::uint32_t arguments_id = 0; ///< the recording's; 0 not recorded
        std::int64_t call_id = 0;       ///< the database's
    };

    void read_definition(const wire::RecordView& record);
    void read_definition_of_arguments(const wire::RecordView& record);
    bool read_graph_or_image(const wire::RecordView& record);
    void read_capture(const wire::RecordView& record);
    void read_dependent(const wire::RecordView& record);
    void add(const wire::KernelConfig& config);
    void add(const wire::HostCall& call, std::uint32_t thread_id);
    void add(const wire::Kernel& kernel);
    void add(const wire::MemoryOp& op);
    void add(const wire::GraphLaunch& launch);
    void set_addresses(trace::MemoryOp& row, const wire::MemoryOp& op);
    void add(const wire::Device& device, std::string_view name);
    void add_allocations();
    void add_process();
    /// The call with this correlation, which is then known to have started something; null where none was
    /// recorded.
    const Launch* launch_of(std::uint32_t correlation_id);
    std::int64_t arguments_of(const Launch* launch, std::uint32_t correlation_id, std::uint32_t device_id);
    /// When the graph launch with this correlation was called, else `otherwise_ns`.
    std::int64_t launch_time_ns(std::uint32_t correlation_id, std::int64_t otherwise_ns) const;
    std::int64_t database_arguments_id(std::uint32_t arguments_id) const;
    std::uint32_t shifted(std::uint32_t correlation_id);

    trace::TraceWriter& trace_;
    ModuleImages& images_;
    CapturedBuffers& captures_;
    std::uint32_t correlation_offset_;
    std::uint32_t last_correlation_id_ = 0;
    ProcessSummary summary_;
    trace::Process process_;
    KernelTraffic* traffic_ = nullptr;
    std::int64_t launches_seen_ = 0;
    std::int64_t first_launch_ns_ = 0; ///< of those
    std::int64_t memory_ops_ = 0;
    std::int64_t host_calls_ = 0;
    std::int64_t unresolved_references_ = 0;

    std::unordered_map<std::uint32_t, std::string> strings_;
    std::unordered_map<std::uint32_t, Api> apis_;
    std::unordered_map<std::uint32_t, std::int64_t> config_ids_;
    std::unordered_map<std::uint32_t, Site> sites_;
    std::unordered_map<std::uint32_t, std::vector<trace::Parameter>> layouts_;
    std::unordered_map<std::uint32_t, std::int64_t> arguments_ids_;
    /// Arguments by correlation id (high half) and device.
    std::unordered_map<std::uint64_t, std::uint32_t> device_launches_;
    GraphNodes graph_nodes_;
    std::unordered_map<std::uint32_t, std::int64_t> graph_launch_times_; ///< by correlation id
    std::vector<Launch> launches_;                                       ///< sorted between the two passes
    std::vector<bool> launch_has_work_; ///< a kernel or graph of the launch was found
    std::size_t launch_cursor_ = 0;     ///< kernels come about in the order of their calls
    std::unordered_map<std::uint32_t, wire::CopyAddresses> copy_addresses_;
    std::unordered_map<std::uint32_t, std::vector<wire::BatchCopyAddresses>> batch_addresses_;
    RecordingWindows windows_;
    wire::ModuleImageTotals image_totals_; ///< the last that was read
    std::vector<wire::Allocation> allocations_;
    NvtxRanges nvtx_{trace_, strings_, process_};
};

} // namespace deepjit::ingest
