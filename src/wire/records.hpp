#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Layout of the file that the tracer writes in the target, one a process, and that `ingest` reads.
///
/// A file is a FileHeader and then blocks. A block is a BlockHeader and a payload of records, all of one
/// thread. A record is a RecordHeader and the fields of the struct named after its kind, packed and
/// little-endian, then for some kinds a tail of bytes. Fields may be appended to a record in a later minor
/// version (readers take the fields they know and the size from the header) and kinds may be added (readers
/// skip and count what they do not know). Anything else is a new kFormatVersion.
///
/// What repeats is stored once under an id, before its first use: strings, kernel configurations, kernel
/// sites, argument layouts and argument blocks. A kernel and its launch then take 60 bytes together.
/// Times are nanoseconds of CLOCK_REALTIME. An id of 0 means "none".
namespace deepjit::wire {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

inline constexpr std::uint64_t kFileMagic = 0x4552'4957'5449'4A44; // "DJITWIRE"
inline constexpr std::uint32_t kBlockMagic = 0x4B4C'4244;          // "DBLK"
inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kMaxPayloadBytes = 1U << 20U;
/// Longer names and argument blocks are cut to this many bytes: a record's size is a 16-bit number.
inline constexpr std::size_t kMaxTailBytes = 65'000;
inline constexpr const char* kFileExtension =
    ".djw"; ///< write-locked (fcntl) by the process while it records

enum class RecordKind : std::uint8_t {
    ProcessStart = 1,
    ProcessEnd = 2,
    TracerStatus = 3,
    Device = 4,
    String = 5,
    ApiName = 6,
    KernelConfig = 7,
    KernelSite = 8,
    Kernel = 9,
    HostCall = 10,
    ArgumentsLayout = 11,
    Arguments = 12,
    GraphNodeArguments = 13,
    MemoryOp = 14,
    CopyAddresses = 15,
    Allocation = 16,
    Overhead = 17,
    GraphNodeClone = 18,
    NvtxDomain = 20,
    NvtxDomainEnd = 21,
    NvtxCategory = 22,
    NvtxPush = 23,
    NvtxPop = 24,
    NvtxStart = 25,
    NvtxEnd = 26,
    NvtxMark = 27,
    WindowStart = 30,
    WindowEnd = 31,
    RecordingSelection = 32,
    ModuleImage = 40,
    ModuleImageTotals = 41,
    DeviceLaunch = 42,
    GraphNodeUpdate = 43,
    GraphNodeCopyAddresses = 44,
    GraphExecUpdate = 45,
    BatchCopyAddresses = 46,
    GraphLaunch = 47,
    CapturedBuffer = 48,
    CapturedLaunch = 49,
    TrafficStatus = 50,
    TrafficRanges = 51,
};

/// Why recording stopped before the process ended.
enum class StopReason : std::uint32_t {
    None = 0,
    WriteFailed = 1, ///< FileHeader::stop_errno says why: a full disk, a quota
    SizeLimit = 2,   ///< the run's recordings reached the size they were allowed
};

/// Why a window of recording opened or closed.
enum class WindowCause : std::uint8_t {
    Process = 1,     ///< it began
    Time = 2,        ///< a delay or a duration was over
    Frames = 3,      ///< frames were counted
    Range = 4,       ///< an NVTX range of the name asked for opened or closed
    ProfilerApi = 5, ///< cuProfilerStart, cuProfilerStop
};

/// The container of device code.
enum class ImageKind : std::uint8_t {
    Cubin = 1,
    Ptx = 2,
    FatBinary = 3,
};

enum class ImageSource : std::uint8_t {
    ModuleLoaded =
        1,        ///< CUPTI, when the driver loaded it into a context: a cubin, compiled where it came as PTX
    LoadCall = 2, ///< the image argument of a cuModuleLoad… or cuLibraryLoad… call
    File = 3,     ///< the file named in such a call
};

#pragma pack(push, 1)

/// At offset 0. The stop fields are overwritten in place when recording has to stop, because that needs no
/// space on a full disk.
struct FileHeader {
    std::uint64_t magic = kFileMagic;
    std::uint32_t version = kFormatVersion;
    std::uint32_t header_bytes = sizeof(FileHeader);
    StopReason stop_reason = StopReason::None;
    std::int32_t stop_errno = 0;
    std::int64_t stop_time_ns = 0;
};

struct BlockHeader {
    std::uint32_t magic = kBlockMagic;
    std::uint32_t payload_bytes = 0;
    std::uint32_t thread_id = 0; ///< thread that made the records; that of the host calls in it
    std::uint32_t checksum = 0;  ///< low half of XXH3-64 of the payload
};

struct RecordHeader {
    RecordKind kind{};
    std::uint8_t flags = 0;
    std::uint16_t size_bytes = 0; ///< of the whole record, this header included
};

struct ProcessStart {
    static constexpr auto kKind = RecordKind::ProcessStart;
    RecordHeader header;
    std::uint32_t process_id = 0;
    std::uint32_t parent_process_id = 0;
    std::int64_t time_ns = 0;
    std::int32_t driver_version = 0; ///< 13000 for 13.0, 0 unknown
    std::uint32_t cupti_version = 0; ///< CUPTI_API_VERSION of the library in use, 0 where none was opened
};

struct ProcessEnd {
    static constexpr auto kKind = RecordKind::ProcessEnd;
    RecordHeader header;
    std::int64_t time_ns = 0;
};

/// What the tracer could see so far; the last one in the file holds. Tail: a sentence on what failed.
struct TracerStatus {
    static constexpr auto kKind = RecordKind::TracerStatus;
    static constexpr std::uint8_t kBeforeCuda = 1; ///< header flag: cuInit was not called, only NVTX
    static constexpr std::uint8_t kFlushHangs = 2; ///< header flag: CUPTI kept what it had not handed over
    RecordHeader header;
    std::int32_t cupti_result = 0; ///< CUptiResult of the first call that failed, 0 where none did
    std::uint8_t cupti_opened = 0;
    std::uint8_t subscribed = 0;         ///< callbacks arrive
    std::uint8_t kernel_activity = 0;    ///< kernel records were asked for and granted
    std::uint8_t driver_initialised = 0; ///< a context was created or the driver answered a query
    std::uint64_t launches_called =
        0; ///< launch and graph-launch calls that returned success, capture excluded
    std::uint64_t kernels_recorded = 0; ///< kernel records received from CUPTI
    std::uint64_t zero_timestamps = 0;  ///< kernel records whose time CUPTI could not take
    std::uint64_t dropped_records = 0;  ///< as CUPTI reports them
    std::uint64_t swallowed_errors = 0; ///< failures inside the tracer that it kept from the target
};

/// Tail: the name.
struct Device {
    static constexpr auto kKind = RecordKind::Device;
    RecordHeader header;
    std::uint32_t device_id = 0;
    std::uint8_t uuid[16] = {};
    std::int32_t compute_major = 0;
    std::int32_t compute_minor = 0;
    std::int32_t multiprocessors = 0;
    std::int64_t l2_bytes = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t memory_bytes_per_second = 0; ///< theoretical, 0 unknown
};

/// Tail: any bytes.
struct String {
    static constexpr auto kKind = RecordKind::String;
    RecordHeader header;
    std::uint32_t string_id = 0;
};

/// A driver call that is recorded. Tail: "cuLaunchKernel".
struct ApiName {
    static constexpr auto kKind = RecordKind::ApiName;
    RecordHeader header;
    std::uint16_t api_id = 0;
    std::uint8_t category = 0; ///< trace::CallCategory
};

struct KernelConfig {
    static constexpr auto kKind = RecordKind::KernelConfig;
    RecordHeader header;
    std::uint32_t config_id = 0;
    std::uint32_t name_id = 0; ///< String: mangled
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t registers_per_thread = 0;
    std::uint32_t static_shared_bytes = 0;
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t local_bytes_per_thread = 0;
};

/// Where a configuration runs: what one kernel of a frame shares with the same kernel of the next.
struct KernelSite {
    static constexpr auto kKind = RecordKind::KernelSite;
    RecordHeader header;
    std::uint32_t site_id = 0;
    std::uint32_t config_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t graph_id = 0; ///< 0 where launched by itself
    std::uint64_t graph_node_id = 0;
};

struct Kernel {
    static constexpr auto kKind = RecordKind::Kernel;
    RecordHeader header;
    std::uint32_t site_id = 0;
    std::uint32_t correlation_id = 0;
    std::int64_t start_ns = 0; ///< 0 where CUPTI could not take the time
    std::int64_t end_ns = 0;
};

struct HostCall {
    static constexpr auto kKind = RecordKind::HostCall;
    static constexpr std::uint8_t kCapturing = 1; ///< header flag: it went into a graph being captured
    RecordHeader header;
    std::uint16_t api_id = 0;
    std::uint16_t result = 0; ///< CUresult
    std::uint32_t correlation_id = 0;
    std::uint32_t arguments_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

struct Parameter {
    std::uint32_t byte_offset = 0;
    std::uint32_t size_bytes = 0;
};

/// Tail: `Parameter`s.
struct ArgumentsLayout {
    static constexpr auto kKind = RecordKind::ArgumentsLayout;
    RecordHeader header;
    std::uint32_t layout_id = 0;
};

/// Tail: the bytes, each parameter at its offset, gaps zero.
struct Arguments {
    static constexpr auto kKind = RecordKind::Arguments;
    RecordHeader header;
    std::uint32_t arguments_id = 0;
    std::uint32_t layout_id = 0;
};

/// The arguments that a graph's kernel node holds.
struct GraphNodeArguments {
    static constexpr auto kKind = RecordKind::GraphNodeArguments;
    RecordHeader header;
    std::uint64_t graph_node_id = 0;
    std::uint32_t arguments_id = 0;
};

/// A graph was instantiated or cloned: the new node holds what the original one did at that moment. What
/// builds and changes graphs is recorded in its order over all threads.
struct GraphNodeClone {
    static constexpr auto kKind = RecordKind::GraphNodeClone;
    RecordHeader header;
    std::uint64_t graph_node_id = 0;
    std::uint64_t original_node_id = 0;
};

struct MemoryOp {
    static constexpr auto kKind = RecordKind::MemoryOp;
    static constexpr std::uint8_t kPageable = 1; ///< header flag: one side is host memory that is not pinned
    RecordHeader header;
    std::uint8_t operation = 0; ///< trace::MemoryOpKind
    std::uint32_t correlation_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t graph_id = 0;
    std::uint64_t graph_node_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t bytes = 0;
};

/// From the call: CUPTI's copy records hold no addresses.
struct CopyAddresses {
    static constexpr auto kKind = RecordKind::CopyAddresses;
    RecordHeader header;
    std::uint32_t correlation_id = 0;
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
};

struct Allocation {
    static constexpr auto kKind = RecordKind::Allocation;
    static constexpr std::uint8_t kFree = 1; ///< header flag: memory was released, not allocated
    RecordHeader header;
    std::uint32_t device_id = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::int64_t time_ns = 0;
};

/// Tail: what CUPTI was doing, in words.
struct Overhead {
    static constexpr auto kKind = RecordKind::Overhead;
    RecordHeader header;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

/// What device code was loaded from. The bytes lie beside the recording in `image-<hash>.bin`, once for all
/// processes of a run. One record for each hash and source. Tail: the path, where it was loaded from a file.
struct ModuleImage {
    static constexpr auto kKind = RecordKind::ModuleImage;
    RecordHeader header;
    std::uint8_t hash[16] = {}; ///< XXH3-128 of the bytes in canonical (big-endian) order
    std::uint64_t bytes = 0;
    ImageKind kind{};
    ImageSource source{};
    std::uint32_t module_id = 0; ///< CUPTI's, 0 where the source is not CUPTI
};
inline constexpr const char* kImageFilePrefix = "image-";
inline constexpr const char* kImageFileExtension = ".bin";

/// So far in this process; the last one in the file holds.
struct ModuleImageTotals {
    static constexpr auto kKind = RecordKind::ModuleImageTotals;
    RecordHeader header;
    std::uint64_t loads = 0;      ///< images seen, repetitions included
    std::uint64_t unreadable = 0; ///< not stored: no container that is known, or memory that cannot be read
    std::uint64_t unwritten = 0;  ///< not stored: the run folder could not be written to
};

/// One kernel of a call that launches one on each of several devices.
struct DeviceLaunch {
    static constexpr auto kKind = RecordKind::DeviceLaunch;
    RecordHeader header;
    std::uint32_t correlation_id = 0; ///< the kernels share it
    std::uint32_t device_id = 0;
    std::uint32_t arguments_id = 0;
};

/// From `time_ns` on the node of an executable graph holds what `source_node_id` does, else `arguments_id`.
struct GraphNodeUpdate {
    static constexpr auto kKind = RecordKind::GraphNodeUpdate;
    RecordHeader header;
    std::uint64_t graph_node_id = 0;
    std::uint64_t source_node_id = 0; ///< 0 where the arguments were given in the call
    std::uint32_t arguments_id = 0;   ///< 0 unknown
    std::int64_t time_ns = 0;
};

/// An executable graph was changed in a way that could not be followed: what its nodes hold from `time_ns` on
/// is not known.
struct GraphExecUpdate {
    static constexpr auto kKind = RecordKind::GraphExecUpdate;
    RecordHeader header;
    std::uint32_t graph_id = 0;
    std::int64_t time_ns = 0;
};

/// The addresses that a graph's copy or fill node holds; 0 unknown.
struct GraphNodeCopyAddresses {
    static constexpr auto kKind = RecordKind::GraphNodeCopyAddresses;
    RecordHeader header;
    std::uint64_t graph_node_id = 0;
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
};

/// One copy of a call that makes several. CUPTI's records of them share the correlation id, so that they are
/// paired by their size.
struct BatchCopyAddresses {
    static constexpr auto kKind = RecordKind::BatchCopyAddresses;
    RecordHeader header;
    std::uint32_t correlation_id = 0;
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
    std::uint64_t bytes = 0;
};

/// One launch of a graph, where nodes are not recorded.
struct GraphLaunch {
    static constexpr auto kKind = RecordKind::GraphLaunch;
    RecordHeader header;
    std::uint32_t correlation_id = 0;
    std::uint32_t graph_id = 0;
    std::uint32_t device_id = 0;
    std::uint32_t context_id = 0;
    std::uint32_t stream_id = 0;
    std::int64_t start_ns = 0; ///< 0 where CUPTI could not take the time
    std::int64_t end_ns = 0;
};

/// Which part of the run was asked for, where that is not all of it. Tail: the name of an NVTX range, or
/// nothing.
struct RecordingSelection {
    static constexpr auto kKind = RecordKind::RecordingSelection;
    RecordHeader header;
    std::uint8_t profiler_api = 0;    ///< 1: between cuProfilerStart and cuProfilerStop
    std::uint64_t skipped_frames = 0; ///< with a range: occurrences of it
    std::uint64_t frames = 0;         ///< 0: all
    std::int64_t delay_ns = 0;        ///< after the recording was opened
    std::int64_t duration_ns = 0;     ///< 0: to the end
};

/// From here on launches, copies and the like are recorded.
struct WindowStart {
    static constexpr auto kKind = RecordKind::WindowStart;
    RecordHeader header;
    WindowCause cause{};
    std::uint64_t frames = 0; ///< that this process had finished by then, where frames are counted
    std::int64_t time_ns = 0;
};

/// Until here. A window without an end lasted as long as the recording.
struct WindowEnd {
    static constexpr auto kKind = RecordKind::WindowEnd;
    RecordHeader header;
    WindowCause cause{};
    std::uint64_t frames = 0;
    std::int64_t time_ns = 0;
};

// NVTX. Events lie in the blocks of the thread that made them, in their order, among its host calls: whatever
// a thread has pushed and not popped when a launch call's record appears was open at that launch.

/// A domain that the program created. Domain 0 is NVTX's default domain.
struct NvtxDomain {
    static constexpr auto kKind = RecordKind::NvtxDomain;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::uint32_t name_id = 0;
    std::int64_t time_ns = 0;
};

/// The program destroyed the domain.
struct NvtxDomainEnd {
    static constexpr auto kKind = RecordKind::NvtxDomainEnd;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::int64_t time_ns = 0;
};

struct NvtxCategory {
    static constexpr auto kKind = RecordKind::NvtxCategory;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::uint32_t category = 0;
    std::uint32_t name_id = 0;
};

/// The tail of an event, where the program gave it more than a name.
struct NvtxAttributes {
    static constexpr std::uint8_t kHasColor = 1;
    std::uint8_t flags = 0;
    std::uint8_t payload_type = 0; ///< nvtxPayloadType_t: 1 u64, 2 i64, 3 f64, 4 u32, 5 i32, 6 f32; 0 none
    std::uint16_t unused = 0;
    std::uint32_t category = 0; ///< 0 none
    std::uint32_t color = 0;    ///< ARGB
    std::uint64_t payload = 0;  ///< the value's bytes, the rest zero
};

/// A range is opened on this thread. Tail: nothing or NvtxAttributes.
struct NvtxPush {
    static constexpr auto kKind = RecordKind::NvtxPush;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::uint32_t name_id = 0; ///< 0 where it has no name
    std::int64_t time_ns = 0;
};

/// The thread's innermost range of the domain is closed.
struct NvtxPop {
    static constexpr auto kKind = RecordKind::NvtxPop;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::int64_t time_ns = 0;
};

/// A range is started that any thread may end. The id's upper half is the starting thread's. Tail: nothing or
/// NvtxAttributes.
struct NvtxStart {
    static constexpr auto kKind = RecordKind::NvtxStart;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::uint32_t name_id = 0;
    std::int64_t time_ns = 0;
    std::uint64_t range_id = 0;
};

/// Of another thread than the start where the upper half of the id is not this block's thread; then it may
/// lie in the file before the start.
struct NvtxEnd {
    static constexpr auto kKind = RecordKind::NvtxEnd;
    RecordHeader header;
    std::uint64_t range_id = 0;
    std::int64_t time_ns = 0;
};

/// Tail: nothing or NvtxAttributes.
struct NvtxMark {
    static constexpr auto kKind = RecordKind::NvtxMark;
    RecordHeader header;
    std::uint32_t domain_id = 0;
    std::uint32_t name_id = 0;
    std::int64_t time_ns = 0;
};

/// A buffer around one run of a chain (capture_plan.hpp). Its bytes lie beside the recording in
/// `buffer-<hash>.bin`.
struct CapturedBuffer {
    static constexpr auto kKind = RecordKind::CapturedBuffer;
    static constexpr std::uint8_t kAfter = 1;   ///< header flag: as the chain left it, else as it found it
    static constexpr std::uint8_t kMissing = 2; ///< header flag: over the limit or unreadable, not saved
    RecordHeader header;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint8_t hash[16] = {}; ///< as ModuleImage::hash
};
inline constexpr const char* kBufferFilePrefix = "buffer-";

/// A launch of the captured run, in the order of the chain.
struct CapturedLaunch {
    static constexpr auto kKind = RecordKind::CapturedLaunch;
    RecordHeader header;
    std::uint32_t step = 0;
    std::uint32_t correlation_id = 0;
    std::uint32_t arguments_id = 0;
};

// Memory traffic, in a run of its own that measures nothing else.

/// What the counters could do so far; the last one in the file holds. Tail: a sentence on what failed.
struct TrafficStatus {
    static constexpr auto kKind = RecordKind::TrafficStatus;
    RecordHeader header;
    std::int32_t cupti_result = 0; ///< CUptiResult of the first call that failed, 0 where none did
    std::uint32_t passes = 0;      ///< runs of a kernel that its figures take; 0 where nothing was measured
};

/// What the device moved for one kernel.
struct TrafficBytes {
    static constexpr std::uint64_t kNotMeasured = ~std::uint64_t{0};
    std::uint64_t dram_read = kNotMeasured;
    std::uint64_t dram_written = kNotMeasured;
    std::uint64_t l2_read = kNotMeasured;
    std::uint64_t l2_written = kNotMeasured;
};

/// Figures of the kernels that one context ran in a span of time, one after the other, in that order. The
/// figures of a span may be spread over several records. Tail: `TrafficBytes`.
struct TrafficRanges {
    static constexpr auto kKind = RecordKind::TrafficRanges;
    RecordHeader header;
    std::uint32_t context_id = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t first = 0;   ///< place of the tail's first kernel in the span
    std::uint32_t total = 0;   ///< kernels measured in the span
    std::uint32_t dropped = 0; ///< kernels of the span whose figures CUPTI lost
};

#pragma pack(pop)

template <class T>
concept WireRecord = std::is_trivially_copyable_v<T> && requires {
    { T::kKind } -> std::convertible_to<RecordKind>;
};

static_assert(sizeof(Kernel) == 28 && sizeof(HostCall) == 32);
static_assert(sizeof(NvtxPush) == 20 && sizeof(NvtxPop) == 16 && sizeof(NvtxAttributes) == 20);
static_assert(sizeof(TrafficBytes) == 32);

} // namespace deepjit::wire
