#include "src/trace/trace.hpp"

#include "src/base/files.hpp"
#include "src/trace/capture_rows.hpp"
#include "src/trace/database.hpp"
#include "src/trace/module_rows.hpp"
#include "src/trace/nvtx_rows.hpp"
#include "src/trace/window_rows.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::trace {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::string_view kHowToRecord = "record one with 'deepjit profile -o trace.db -- PROGRAM'";

Diagnostic not_a_trace(const fs::path& path, std::string evidence) {
    return failure(fmt::format("'{}' is not a deepjit trace", path.string()), std::move(evidence),
                   std::string(kHowToRecord));
}

Diagnostic damaged(const fs::path& path, std::string evidence) {
    return failure(fmt::format("the trace '{}' is damaged", path.string()), std::move(evidence),
                   "record it again with 'deepjit profile', or import its source again");
}

/// Refuses whatever cannot be a database before SQLite sees it, and returns the file's size.
Result<std::int64_t> check_file(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return failure(fmt::format("cannot read the trace '{}'", path.string()), system_error_text(errno),
                       errno == ENOENT ? std::string(kHowToRecord) : "check that you may read the file");
    struct stat status {};
    char start[kSqliteMagic.size()] = {};
    ssize_t start_bytes = 0;
    const bool readable = ::fstat(descriptor, &status) == 0;
    if (readable && S_ISREG(status.st_mode)) start_bytes = ::read(descriptor, start, sizeof start);
    ::close(descriptor);
    if (readable && S_ISDIR(status.st_mode))
        return failure(fmt::format("'{}' is a folder, not a trace", path.string()), {},
                       fmt::format("if it is a run folder that 'deepjit profile' left, turn it into a trace "
                                   "with 'deepjit import {} -o trace.db'",
                                   path.string()));
    if (!readable || !S_ISREG(status.st_mode)) return not_a_trace(path, "it is not a regular file");
    if (status.st_size == 0) return not_a_trace(path, "it is empty");
    if (std::string_view(start, static_cast<std::size_t>(std::max<ssize_t>(start_bytes, 0))) != kSqliteMagic)
        return not_a_trace(path, "it does not begin as an SQLite database does");
    return static_cast<std::int64_t>(status.st_size);
}

Result<void> check_identity(const Database& database, const fs::path& path, std::int64_t file_bytes) {
    DEEPJIT_TRY(const std::int64_t application_id, database.query_integer("PRAGMA application_id"));
    if (application_id != kApplicationId)
        return not_a_trace(path, "it is an SQLite database of another program");
    DEEPJIT_TRY(const std::int64_t version, database.query_integer("PRAGMA user_version"));
    if (version > kSchemaVersion)
        return failure(
            fmt::format("the trace '{}' was written by a newer deepjit", path.string()),
            fmt::format("its schema version is {}; this deepjit reads {}", version, kSchemaVersion),
            "update deepjit, or record the trace again with this one");
    if (version >= 1 && version < kSchemaVersion)
        return failure(
            fmt::format("the trace '{}' was written by an older deepjit", path.string()),
            fmt::format("its schema version is {}; this deepjit reads {}", version, kSchemaVersion),
            "record the trace again with this deepjit, or read it with the one that wrote it");
    if (version != kSchemaVersion)
        return damaged(path, fmt::format("its schema version is {}, which no deepjit wrote", version));
    DEEPJIT_TRY(const std::int64_t pages, database.query_integer("PRAGMA page_count"));
    DEEPJIT_TRY(const std::int64_t page_bytes, database.query_integer("PRAGMA page_size"));
    if (pages * page_bytes > file_bytes)
        return damaged(path,
                       fmt::format("it should have {} bytes and has {}", pages * page_bytes, file_bytes));
    return {};
}

void read_row(const Statement& row, KernelConfig& config) {
    row.read(0, config.config_id);
    config.name = row.bytes(1);
    config.mangled_name = row.bytes(2);
    for (int axis = 0; axis < 3; ++axis) {
        row.read(3 + axis, config.grid[static_cast<std::size_t>(axis)]);
        row.read(6 + axis, config.block[static_cast<std::size_t>(axis)]);
    }
    row.read(9, config.registers_per_thread);
    row.read(10, config.static_shared_bytes);
    row.read(11, config.dynamic_shared_bytes);
    row.read(12, config.local_bytes_per_thread);
}

void read_row(const Statement& row, Kernel& kernel) {
    row.read(0, kernel.kernel_id);
    row.read(1, kernel.config_id);
    row.read(2, kernel.start_ns);
    row.read(3, kernel.end_ns);
    row.read(4, kernel.call_id);
    row.read(5, kernel.arguments_id);
    row.read(6, kernel.graph_node_id);
    row.read(7, kernel.graph_id);
    row.read(8, kernel.correlation_id);
    row.read(9, kernel.stream_id);
    row.read(10, kernel.context_id);
    row.read(11, kernel.device_id);
    row.read(12, kernel.process_id);
    row.read(13, kernel.nvtx_range_id);
}

void read_row(const Statement& row, HostCall& call) {
    row.read(0, call.call_id);
    const std::int64_t category = row.integer(1);
    const bool known = category >= 0 && category <= static_cast<std::int64_t>(CallCategory::ModuleLoad);
    call.category = known ? static_cast<CallCategory>(category) : CallCategory::Other;
    call.api = row.bytes(2);
    row.read(3, call.start_ns);
    row.read(4, call.end_ns);
    row.read(5, call.result);
    row.read(6, call.correlation_id);
    row.read(7, call.thread_id);
    row.read(8, call.process_id);
    call.capturing = row.integer(9) != 0;
}

void read_row(const Statement& row, MemoryOp& op) {
    row.read(0, op.memory_op_id);
    const std::int64_t kind = row.integer(1);
    const bool known = kind >= 0 && kind <= static_cast<std::int64_t>(MemoryOpKind::Memset);
    op.kind = known ? static_cast<MemoryOpKind>(kind) : MemoryOpKind::Other;
    row.read(2, op.start_ns);
    row.read(3, op.end_ns);
    row.read(4, op.bytes);
    row.read(5, op.source_address);
    row.read(6, op.destination_address);
    row.read(7, op.graph_node_id);
    row.read(8, op.graph_id);
    row.read(9, op.correlation_id);
    row.read(10, op.stream_id);
    row.read(11, op.context_id);
    row.read(12, op.device_id);
    row.read(13, op.process_id);
    op.pageable = row.integer(14) != 0;
}

void read_row(const Statement& row, Allocation& allocation) {
    row.read(0, allocation.allocation_id);
    row.read(1, allocation.address);
    row.read(2, allocation.bytes);
    row.read(3, allocation.start_ns);
    if (!row.is_null(4)) allocation.end_ns = row.integer(4);
    row.read(5, allocation.device_id);
    row.read(6, allocation.process_id);
}

void read_row(const Statement& row, Overhead& overhead) {
    overhead.kind = row.bytes(0);
    row.read(1, overhead.start_ns);
    row.read(2, overhead.end_ns);
    row.read(3, overhead.process_id);
}

void read_row(const Statement& row, GraphLaunch& launch) {
    row.read(0, launch.graph_launch_id);
    row.read(1, launch.start_ns);
    row.read(2, launch.end_ns);
    row.read(3, launch.graph_id);
    row.read(4, launch.correlation_id);
    row.read(5, launch.stream_id);
    row.read(6, launch.context_id);
    row.read(7, launch.device_id);
    row.read(8, launch.process_id);
    row.read(9, launch.call_id);
    row.read(10, launch.nvtx_range_id);
}

void read_row(const Statement& row, ModuleLoad& load) {
    row.read(0, load.image_id);
    const std::int64_t source = row.integer(1);
    const bool known = source >= 1 && source <= static_cast<std::int64_t>(ImageSource::File);
    load.source = known ? static_cast<ImageSource>(source) : ImageSource::Other;
    load.path = row.bytes(2);
    row.read(3, load.module_id);
    row.read(4, load.process_id);
}

void read_row(const Statement& row, ModuleKernel& kernel) {
    row.read(0, kernel.image_id);
    kernel.mangled_name = row.bytes(1);
}

void read_row(const Statement& row, CapturedBuffer& buffer) {
    row.read(0, buffer.address);
    row.read(1, buffer.bytes);
    buffer.hash = row.bytes(2);
    buffer.after = row.integer(3) != 0;
    row.read(4, buffer.process_id);
}

void read_row(const Statement& row, CapturedLaunch& launch) {
    row.read(0, launch.step);
    row.read(1, launch.correlation_id);
    row.read(2, launch.arguments_id);
    row.read(3, launch.process_id);
}

void read_row(const Statement& row, KernelTraffic& traffic) {
    row.read(0, traffic.kernel_id);
    const auto bytes = [&row](int column) {
        return row.is_null(column) ? std::nullopt : std::optional(row.integer(column));
    };
    traffic.dram_read_bytes = bytes(1);
    traffic.dram_written_bytes = bytes(2);
    traffic.l2_read_bytes = bytes(3);
    traffic.l2_written_bytes = bytes(4);
    row.read(5, traffic.passes);
}

void read_row(const Statement& row, Device& device) {
    row.read(0, device.device_id);
    device.name = row.bytes(1);
    device.uuid = row.bytes(2);
    row.read(3, device.compute_major);
    row.read(4, device.compute_minor);
    row.read(5, device.multiprocessors);
    row.read(6, device.l2_bytes);
    row.read(7, device.memory_bytes);
    row.read(8, device.memory_bytes_per_second);
}

void read_row(const Statement& row, Process& process) {
    row.read(0, process.process_id);
    row.read(1, process.parent_process_id);
    row.read(2, process.start_ns);
    if (!row.is_null(3)) process.end_ns = row.integer(3);
    row.read(4, process.driver_version);
    row.read(5, process.cupti_version);
    row.read(6, process.dropped_records);
    row.read(7, process.lost_bytes);
}

} // namespace

struct Trace::Impl {
    fs::path path;
    Database database;
    std::map<std::string, std::string, std::less<>> meta;

    Result<void> read_meta() {
        DEEPJIT_TRY(Statement statement, database.prepare("SELECT key, value FROM meta_entry"));
        for (;;) {
            DEEPJIT_TRY(const bool has_row, statement.step());
            if (!has_row) return {};
            meta.insert_or_assign(statement.bytes(0), statement.bytes(1));
        }
    }
};

Trace::Trace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Result<Trace> Trace::open(const fs::path& path) {
    DEEPJIT_TRY(const std::int64_t file_bytes, check_file(path));
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    DEEPJIT_TRY(impl->database, Database::open_read_only(path));
    DEEPJIT_CHECK(check_identity(impl->database, path, file_bytes));
    DEEPJIT_CHECK(impl->read_meta());
    return Trace(std::move(impl));
}

std::optional<std::string> Trace::meta(std::string_view key) const {
    const auto found = impl_->meta.find(key);
    return found == impl_->meta.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Trace::meta_number(std::string_view key) const {
    const auto text = meta(key);
    if (!text) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
    return value;
}

Result<std::vector<KernelConfig>> Trace::kernel_configs() const {
    return read_all<KernelConfig>(
        impl_->database,
        "SELECT c.config_id, n.value, m.value, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
        "registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread "
        "FROM kernel_config_entry c JOIN string_entry n ON n.string_id = c.name_id "
        "JOIN string_entry m ON m.string_id = c.mangled_name_id ORDER BY c.config_id",
        read_row);
}

Result<std::vector<Kernel>> Trace::kernels() const {
    return read_all<Kernel>(
        impl_->database,
        "SELECT kernel_id, config_id, start_ns, end_ns, call_id, arguments_id, graph_node_id, graph_id, correlation_id, stream_id, context_id, device_id, process_id, nvtx_range_id "
        "FROM kernel_entry ORDER BY device_id, start_ns, kernel_id",
        read_row);
}

Result<std::optional<TimeSpan>> Trace::kernel_span() const {
    DEEPJIT_TRY(Statement statement,
                impl_->database.prepare("SELECT min(start_ns), max(end_ns) FROM kernel_entry "
                                        "WHERE start_ns > 0"));
    DEEPJIT_TRY(const bool has_row, statement.step());
    if (!has_row || statement.is_null(0)) return std::optional<TimeSpan>();
    return std::optional(TimeSpan{statement.integer(0), statement.integer(1)});
}

Result<std::vector<HostCall>> Trace::host_calls() const {
    return read_all<HostCall>(impl_->database,
                              "SELECT call_id, category, s.value, start_ns, end_ns, result, correlation_id, "
                              "thread_id, process_id, capturing FROM host_call_entry "
                              "JOIN string_entry s ON s.string_id = api_id ORDER BY start_ns, call_id",
                              read_row);
}

Result<std::vector<MemoryOp>> Trace::memory_ops() const {
    return read_all<MemoryOp>(impl_->database,
                              "SELECT memory_op_id, kind, start_ns, end_ns, bytes, source_address, "
                              "destination_address, graph_node_id, graph_id, correlation_id, stream_id, "
                              "context_id, device_id, process_id, pageable FROM memory_op_entry "
                              "ORDER BY device_id, start_ns, memory_op_id",
                              read_row);
}

Result<std::vector<Allocation>> Trace::allocations() const {
    return read_all<Allocation>(
        impl_->database,
        "SELECT allocation_id, address, bytes, start_ns, end_ns, device_id, process_id "
        "FROM allocation_entry ORDER BY start_ns, allocation_id",
        read_row);
}

Result<std::vector<Overhead>> Trace::overheads() const {
    return read_all<Overhead>(impl_->database,
                              "SELECT kind, start_ns, end_ns, process_id FROM overhead_entry "
                              "ORDER BY start_ns, overhead_id",
                              read_row);
}

Result<std::vector<GraphLaunch>> Trace::graph_launches() const {
    return read_all<GraphLaunch>(impl_->database,
                                 "SELECT graph_launch_id, start_ns, end_ns, graph_id, correlation_id, "
                                 "stream_id, context_id, device_id, process_id, call_id, nvtx_range_id "
                                 "FROM graph_launch_entry "
                                 "ORDER BY start_ns, graph_launch_id",
                                 read_row);
}

Result<ModuleImage> Trace::module_image(std::int64_t image_id) const {
    return read_module_image(impl_->database, image_id, impl_->path.string());
}

Result<std::vector<ModuleLoad>> Trace::module_loads() const {
    return read_all<ModuleLoad>(impl_->database,
                                "SELECT image_id, source, path, module_id, process_id "
                                "FROM module_load_entry ORDER BY image_id, process_id, source",
                                read_row);
}

Result<std::vector<ModuleKernel>> Trace::module_kernels() const {
    return read_all<ModuleKernel>(impl_->database,
                                  "SELECT k.image_id, s.value FROM module_kernel_entry k "
                                  "JOIN string_entry s ON s.string_id = k.mangled_name_id "
                                  "ORDER BY k.image_id, s.value",
                                  read_row);
}

Result<std::vector<RecordingWindow>> Trace::recording_windows() const {
    return read_recording_windows(impl_->database);
}

Result<std::vector<NvtxDomain>> Trace::nvtx_domains() const {
    return read_nvtx_domains(impl_->database);
}

Result<std::vector<NvtxCategory>> Trace::nvtx_categories() const {
    return read_nvtx_categories(impl_->database);
}

Result<std::vector<NvtxRange>> Trace::nvtx_ranges() const {
    return read_nvtx_ranges(impl_->database);
}

Result<std::vector<NvtxOperator>> Trace::nvtx_operators() const {
    return read_nvtx_operators(impl_->database);
}

Result<std::vector<CapturedBuffer>> Trace::captured_buffers() const {
    return read_all<CapturedBuffer>(impl_->database,
                                    "SELECT b.address, b.bytes, c.hash, b.after, b.process_id "
                                    "FROM captured_buffer_entry b LEFT JOIN captured_contents_entry c "
                                    "ON c.contents_id = b.contents_id ORDER BY b.rowid",
                                    read_row);
}

Result<std::string> Trace::captured_bytes(const std::string& hash) const {
    return read_captured_bytes(impl_->database, hash, impl_->path.string());
}

Result<std::vector<CapturedLaunch>> Trace::captured_launches() const {
    return read_all<CapturedLaunch>(impl_->database,
                                    "SELECT step, correlation_id, arguments_id, process_id "
                                    "FROM captured_launch_entry ORDER BY process_id, step",
                                    read_row);
}

Result<std::vector<KernelTraffic>> Trace::kernel_traffic() const {
    return read_all<KernelTraffic>(impl_->database,
                                   "SELECT kernel_id, dram_read_bytes, dram_written_bytes, l2_read_bytes, "
                                   "l2_written_bytes, passes FROM kernel_traffic_entry ORDER BY kernel_id",
                                   read_row);
}

Result<std::vector<Device>> Trace::devices() const {
    return read_all<Device>(impl_->database,
                            "SELECT device_id, name, uuid, compute_major, compute_minor, multiprocessors, "
                            "l2_bytes, memory_bytes, memory_bytes_per_second FROM device_entry "
                            "ORDER BY device_id",
                            read_row);
}

Result<std::vector<Process>> Trace::processes() const {
    return read_all<Process>(impl_->database,
                             "SELECT process_id, parent_process_id, start_ns, end_ns, driver_version, "
                             "cupti_version, dropped_records, lost_bytes FROM process_entry "
                             "ORDER BY start_ns, process_id",
                             read_row);
}

Result<Arguments> Trace::arguments(std::int64_t arguments_id) const {
    DEEPJIT_TRY(Statement block, impl_->database.prepare(
                                     "SELECT layout_id, bytes FROM arguments_entry WHERE arguments_id = ?"));
    block.bind(1, arguments_id);
    DEEPJIT_TRY(const bool found, block.step());
    if (!found)
        return failure(fmt::format("the trace '{}' holds no arguments with number {}", impl_->path.string(),
                                   arguments_id));
    Arguments arguments;
    arguments.arguments_id = arguments_id;
    arguments.bytes = block.bytes(1);
    DEEPJIT_TRY(Statement layout,
                impl_->database.prepare("SELECT byte_offset, size_bytes FROM arguments_layout_entry "
                                        "WHERE layout_id = ? ORDER BY parameter_index"));
    layout.bind(1, block.integer(0));
    const auto total = static_cast<std::int64_t>(arguments.bytes.size());
    for (;;) {
        DEEPJIT_TRY(const bool has_row, layout.step());
        if (!has_row) return arguments;
        const std::int64_t offset = layout.integer(0);
        const std::int64_t size = layout.integer(1);
        if (offset < 0 || size < 0 || offset > total || size > total - offset)
            return damaged(impl_->path,
                           fmt::format("a parameter lies outside argument block {}", arguments_id));
        arguments.parameters.push_back(
            {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    }
}

} // namespace deepjit::trace
