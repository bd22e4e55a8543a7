#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Rows of trace.db as plain values. Times are nanoseconds of CLOCK_REALTIME; ids are the database's.
namespace deepjit::trace {

/// What is the same for every launch of one kernel with one configuration.
struct KernelConfig {
    std::int64_t config_id = 0;
    std::string name; ///< demangled; bytes as the program gave them
    std::string mangled_name;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
};

struct Kernel {
    std::int64_t kernel_id = 0;
    std::int64_t config_id = 0;
    std::int64_t start_ns = 0; ///< 0 where CUPTI could not take the time
    std::int64_t end_ns = 0;
    std::int64_t call_id = 0;      ///< launch call that started it, 0 where none was recorded
    std::int64_t arguments_id = 0; ///< 0 where not recorded
    /// Innermost NVTX range open on the launching thread at the launch call, of any domain: a push/pop range,
    /// else the start/end range that the thread started last. 0 where there was none.
    std::int64_t nvtx_range_id = 0;
    std::uint64_t graph_node_id = 0;
    std::uint32_t graph_id = 0; ///< 0 where launched by itself
    std::uint32_t correlation_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t process_id = 0;

    std::int64_t duration_ns() const { return end_ns - start_ns; }
};

enum class CallCategory {
    Launch = 1,
    GraphLaunch = 2,
    Copy = 3,
    Synchronise = 4,
    Allocate = 5,
    Event = 6,
    Graph = 7,
    ModuleLoad = 8,
    Other = 0
};

/// A call that the program made to the driver.
struct HostCall {
    std::int64_t call_id = 0;
    CallCategory category = CallCategory::Other;
    std::string api; ///< "cuLaunchKernel"
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int32_t result = 0; ///< CUresult
    std::uint32_t correlation_id = 0;
    std::uint32_t thread_id = 0;
    std::uint32_t process_id = 0;
    bool capturing = false; ///< went into a graph being captured, so that no kernel answers it
};

/// Where one parameter lies in the bytes of an argument block.
struct Parameter {
    std::uint32_t byte_offset = 0;
    std::uint32_t size_bytes = 0;
};

struct Arguments {
    std::int64_t arguments_id = 0;
    std::vector<Parameter> parameters;
    std::string bytes;
};

enum class MemoryOpKind {
    HostToDevice = 1,
    DeviceToHost = 2,
    DeviceToDevice = 3,
    HostToHost = 4,
    PeerToPeer = 5,
    Memset = 6,
    Other = 0
};

struct MemoryOp {
    std::int64_t memory_op_id = 0;
    MemoryOpKind kind = MemoryOpKind::Other;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t bytes = 0;
    std::uint64_t source_address = 0; ///< 0 unknown
    std::uint64_t destination_address = 0;
    std::uint64_t graph_node_id = 0;
    std::uint32_t graph_id = 0;
    std::uint32_t correlation_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t process_id = 0;
    bool pageable = false;
};

struct Allocation {
    std::int64_t allocation_id = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns; ///< absent where never freed
    std::uint32_t device_id = 0;
    std::uint32_t process_id = 0;
};

struct Overhead {
    std::string kind;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t process_id = 0;
};

enum class ImageKind { Cubin = 1, Ptx = 2, FatBinary = 3, Other = 0 };

enum class ImageSource {
    ModuleLoaded = 1, ///< CUPTI, when the driver loaded it into a context
    LoadCall = 2,     ///< the image argument of a load call
    File = 3,         ///< the file named in a load call
    Other = 0
};

/// Device code. Loading it is executing someone else's program: it is only done for replay, under the rule
/// for untrusted traces.
struct ModuleImage {
    std::int64_t image_id = 0;
    std::string hash; ///< hash_hex() of the bytes
    ImageKind kind = ImageKind::Other;
    std::string bytes;
};

/// Where an image came from.
struct ModuleLoad {
    std::int64_t image_id = 0;
    ImageSource source = ImageSource::Other;
    std::string path;            ///< empty where it was not loaded from a file
    std::uint32_t module_id = 0; ///< CUPTI's, 0 where the source is not CUPTI
    std::uint32_t process_id = 0;
};

/// A kernel that an image holds.
struct ModuleKernel {
    std::int64_t image_id = 0;
    std::string mangled_name;
};

/// An allocation around one run of a chain (profile --capture), as the chain found it or as it left it.
struct CapturedBuffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::string hash;     ///< hash_hex() of the contents; empty where they were not saved
    std::string contents; ///< for the writer; a reader asks for them by hash
    bool after = false;
    std::uint32_t process_id = 0;
};

/// A launch of the run that was captured.
struct CapturedLaunch {
    std::uint32_t step = 0; ///< of the chain, from 0
    std::uint32_t correlation_id = 0;
    std::int64_t arguments_id = 0;
    std::uint32_t process_id = 0;
};

/// One launch of a graph whose nodes were not recorded.
struct GraphLaunch {
    std::int64_t graph_launch_id = 0;
    std::int64_t start_ns = 0; ///< 0 where CUPTI could not take the time
    std::int64_t end_ns = 0;
    std::int64_t call_id = 0;       ///< as Kernel's
    std::int64_t nvtx_range_id = 0; ///< as Kernel's
    std::uint32_t graph_id = 0;
    std::uint32_t correlation_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t process_id = 0;
};

/// What opened or closed a window of recording.
enum class WindowBound {
    Unknown = 0, ///< of the end: the process was killed while the window was open
    Process = 1, ///< it began; it ended
    Time = 2,    ///< a delay or a duration was over
    Frames = 3,
    Range = 4,       ///< an NVTX range opened or closed
    ProfilerApi = 5, ///< cuProfilerStart, cuProfilerStop
    SizeLimit = 6,
    WriteFailed = 7,
};

/// A part of the run that was recorded; the whole of it where nothing else was asked for.
struct RecordingWindow {
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns; ///< absent: the process was killed while the window was open
    WindowBound start_bound = WindowBound::Unknown;
    WindowBound end_bound = WindowBound::Unknown;
    std::int64_t start_frames = 0; ///< frames finished (of a range: begun) by then, where they were counted
    std::int64_t end_frames = 0;
    std::uint32_t process_id = 0;
};

enum class NvtxKind { PushPop = 1, StartEnd = 2, Mark = 3 };

/// Numbered as NVTX does (nvtxPayloadType_t).
enum class NvtxPayloadType { None = 0, Uint64 = 1, Int64 = 2, Double = 3, Uint32 = 4, Int32 = 5, Float = 6 };

/// A domain that a program created: the scope of categories and of nesting.
struct NvtxDomain {
    std::int64_t domain_id = 0;
    std::optional<std::string> name; ///< bytes as the program gave them; absent where not recorded
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns; ///< absent where never destroyed
    std::uint32_t process_id = 0;
};

struct NvtxCategory {
    std::int64_t domain_id = 0; ///< 0 is the default domain
    std::uint32_t category = 0;
    std::optional<std::string> name;
    std::uint32_t process_id = 0;
};

/// A range or mark that the program made with NVTX.
struct NvtxRange {
    std::int64_t range_id = 0;
    NvtxKind kind = NvtxKind::PushPop;
    std::int64_t domain_id = 0;      ///< 0 is the default domain
    std::optional<std::string> name; ///< bytes as the program gave them; wide characters as UTF-8
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns; ///< absent where left open; of a mark its start
    std::int64_t parent_range_id = 0;   ///< push/pop: around it on its thread and in its domain, 0 none
    std::uint32_t level = 0;            ///< push/pop: ranges around it on its thread and in its domain
    std::uint32_t category = 0;         ///< 0 none
    std::optional<std::uint32_t> color; ///< ARGB
    NvtxPayloadType payload_type = NvtxPayloadType::None;
    std::int64_t payload_integer = 0; ///< of the integer types; an unsigned one as its bit pattern
    double payload_real = 0;          ///< of Double and Float
    std::uint32_t thread_id = 0;      ///< that opened it
    std::uint32_t process_id = 0;
};

/// What the name of a range says of the operator of a framework that it stands for.
struct NvtxOperator {
    std::int64_t range_id = 0;
    std::string framework; ///< "PyTorch" or "TensorRT"
    std::string operator_name;
    std::optional<std::int64_t> sequence; ///< of autograd; shared by an operator and its gradient
    std::optional<std::int64_t> op_id;
    std::optional<std::string> shapes_json;       ///< of the inputs: [[2,3],[]]
    std::optional<std::string> input_op_ids_json; ///< [[op_id,output],...]
};

/// Bytes that the device moved for one kernel, measured by counters in a second run of the program. A figure
/// is absent where the device has no counter for it.
struct KernelTraffic {
    std::int64_t kernel_id = 0; ///< the kernel of the timed run
    std::optional<std::int64_t> dram_read_bytes;
    std::optional<std::int64_t> dram_written_bytes;
    std::optional<std::int64_t> l2_read_bytes; ///< requests that reached L2, hit or miss
    std::optional<std::int64_t> l2_written_bytes;
    std::uint32_t passes = 0; ///< runs of the kernel that the figures took
};

struct Device {
    std::uint32_t device_id = 0;
    std::string name;
    std::string uuid;
    int compute_major = 0;
    int compute_minor = 0;
    int multiprocessors = 0;
    std::int64_t l2_bytes = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t memory_bytes_per_second = 0; ///< theoretical, 0 unknown
};

struct TimeSpan {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

struct Process {
    std::uint32_t process_id = 0;
    std::uint32_t parent_process_id = 0;
    std::int64_t start_ns = 0;
    std::optional<std::int64_t> end_ns; ///< absent where it was killed
    int driver_version = 0;             ///< 13000 for 13.0
    int cupti_version = 0;
    std::int64_t dropped_records = 0;
    std::int64_t lost_bytes = 0; ///< tail of its wire file that could not be read
};

} // namespace deepjit::trace
