#pragma once

#include "src/base/result.hpp"
#include "src/trace/records.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// trace.db: one SQLite file per recorded run.
namespace deepjit::trace {

/// `PRAGMA application_id` ("djit") and `PRAGMA user_version` of every trace.
inline constexpr int kApplicationId = 0x646A6974;
inline constexpr int kSchemaVersion = 3;

/// Keys of `meta`, so that writers and readers agree.
namespace meta_key {
inline constexpr std::string_view kToolVersion = "tool_version";
inline constexpr std::string_view kSource = "source";              ///< "deepjit profile"
inline constexpr std::string_view kTargetStatus = "target_status"; ///< exit status as a shell reports it
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kCommand = "command";            ///< with profile --store-command alone
inline constexpr std::string_view kTraffic = "traffic";            ///< "measured" or "unavailable"
inline constexpr std::string_view kTrafficError = "traffic.error"; ///< why figures are missing
inline constexpr std::string_view kTracerError = "tracer_error";   ///< why kernels of a process are missing
/// "1" where only a part of the run was to be recorded.
inline constexpr std::string_view kSelectsPart = "recording.selects_part";
// Calibration of this machine (src/gpu/calibration.hpp), each in nanoseconds; absent where not measured.
inline constexpr std::string_view kStreamLaunchNs = "calibration.stream_launch_ns";
inline constexpr std::string_view kGraphInterceptNs = "calibration.graph_intercept_ns";
inline constexpr std::string_view kGraphNodeNs = "calibration.graph_node_ns";
inline constexpr std::string_view kTracerLaunchNs = "calibration.tracer_launch_ns";
inline constexpr std::string_view kTracerGraphNs = "calibration.tracer_graph_ns";
inline constexpr std::string_view kTracerGraphNodeNs = "calibration.tracer_graph_node_ns";
/// All of it, with spreads, as JSON.
inline constexpr std::string_view kCalibration = "calibration.json";
} // namespace meta_key

/// Reads a trace. The file is opened read-only and defensively: no extension, no ATTACH, no trusted schema.
class Trace {
  public:
    /// Refuses what is not a deepjit trace, or is one of a newer version, by name.
    static Result<Trace> open(const std::filesystem::path& path);
    Trace(Trace&&) noexcept;
    Trace& operator=(Trace&&) noexcept;
    ~Trace();

    /// Value of a `meta` key, or absent.
    std::optional<std::string> meta(std::string_view key) const;
    std::optional<double> meta_number(std::string_view key) const;

    Result<std::vector<KernelConfig>> kernel_configs() const;
    /// All kernels by (device, start, id).
    Result<std::vector<Kernel>> kernels() const;
    /// From the start of the first kernel to the end of the last, over all devices; absent where no kernel
    /// has a time.
    Result<std::optional<TimeSpan>> kernel_span() const;
    /// All host calls by start.
    Result<std::vector<HostCall>> host_calls() const;
    /// All copies and memsets by (device, start).
    Result<std::vector<MemoryOp>> memory_ops() const;
    Result<std::vector<Allocation>> allocations() const;
    Result<std::vector<Overhead>> overheads() const;
    /// By start.
    Result<std::vector<GraphLaunch>> graph_launches() const;
    /// One image with its bytes; an error where the id is unknown or the bytes are damaged. Device code comes
    /// from whoever made the trace: load it only under the rule for untrusted traces.
    Result<ModuleImage> module_image(std::int64_t image_id) const;
    Result<std::vector<ModuleLoad>> module_loads() const;
    /// Which image holds which kernel, launched or not.
    Result<std::vector<ModuleKernel>> module_kernels() const;
    Result<std::vector<NvtxDomain>> nvtx_domains() const;
    Result<std::vector<NvtxCategory>> nvtx_categories() const;
    /// By start.
    Result<std::vector<RecordingWindow>> recording_windows() const;
    /// Ranges and marks by start.
    Result<std::vector<NvtxRange>> nvtx_ranges() const;
    Result<std::vector<NvtxOperator>> nvtx_operators() const;
    /// Without contents; captured_bytes() gives those of a hash.
    Result<std::vector<CapturedBuffer>> captured_buffers() const;
    Result<std::string> captured_bytes(const std::string& hash) const;
    /// By step.
    Result<std::vector<CapturedLaunch>> captured_launches() const;
    /// What counters measured, by kernel id; empty where nothing was.
    Result<std::vector<KernelTraffic>> kernel_traffic() const;
    Result<std::vector<Device>> devices() const;
    Result<std::vector<Process>> processes() const;
    /// Arguments by id; an error where the id is unknown.
    Result<Arguments> arguments(std::int64_t arguments_id) const;

  private:
    struct Impl;
    explicit Trace(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The file that a trace given as `path` goes to: links are followed and stay. Refuses what cannot hold an
/// SQLite database: a folder, a device, a pipe, a socket, and "-" for stdout.
Result<std::filesystem::path> trace_destination(const std::filesystem::path& path);

/// Writes a trace: to a temporary file beside its destination, moved there by finish(), so that a failure
/// leaves whatever was at `path` whole. Ids given by the caller must be unique; 0 in an id field lets the
/// database choose. Errors are kept and returned by finish(). A process or device given twice is one row: the
/// spans of a process are united and its losses summed, a device stays as first given.
class TraceWriter {
  public:
    static Result<TraceWriter> create(const std::filesystem::path& path);
    TraceWriter(TraceWriter&&) noexcept;
    TraceWriter& operator=(TraceWriter&&) noexcept;
    ~TraceWriter(); ///< discards the file unless finish() succeeded

    void set_meta(std::string_view key, std::string_view value);
    /// Interned: the same contents give the same id.
    std::int64_t add_kernel_config(const KernelConfig& config);
    /// Interned: the same layout and bytes give the same id.
    std::int64_t add_arguments(const Arguments& arguments);
    void add(const Process& process);
    void add(const Device& device);
    void add(const Kernel& kernel);
    /// Returns its id: that of the row given, else a new one.
    std::int64_t add(const HostCall& call);
    void add(const MemoryOp& op);
    void add(const Allocation& allocation);
    void add(const Overhead& overhead);
    void add(const GraphLaunch& launch);
    void add(const RecordingWindow& window);
    /// Interned by hash: the same contents give the same id. 0 after an error.
    std::int64_t add_module_image(const ModuleImage& image);
    void add(const ModuleLoad& load);
    /// A kernel that the image holds; one named twice is one row.
    void add(const ModuleKernel& kernel);
    /// Ids that no other row has, so that others can refer to a range before it has ended.
    std::int64_t next_nvtx_domain_id();
    std::int64_t next_nvtx_range_id();
    void add(const NvtxDomain& domain);
    /// A category named twice keeps its last name.
    void add(const NvtxCategory& category);
    void add(const NvtxRange& range);
    void add(const NvtxOperator& row);
    /// Contents of the same hash are stored once.
    void add(const CapturedBuffer& buffer);
    void add(const CapturedLaunch& launch);
    void add(const KernelTraffic& traffic);

    /// Builds indexes and views, commits and moves the file into place.
    Result<void> finish();

  private:
    struct Impl;
    explicit TraceWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace deepjit::trace
