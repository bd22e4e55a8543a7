#include "src/base/files.hpp"
#include "src/trace/capture_rows.hpp"
#include "src/trace/database.hpp"
#include "src/trace/embedded_sql.hpp"
#include "src/trace/module_rows.hpp"
#include "src/trace/nvtx_rows.hpp"
#include "src/trace/trace.hpp"
#include "src/trace/window_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <unistd.h>
#include <unordered_map>

namespace deepjit::trace {
namespace fs = std::filesystem;
namespace {

/// 0 lets the database choose the id.
std::optional<std::int64_t> id_or_null(std::int64_t id) {
    return id == 0 ? std::nullopt : std::optional(id);
}

Diagnostic cannot_write(const fs::path& path, int error_number) {
    const bool full = error_number == ENOSPC || error_number == EDQUOT;
    return failure(fmt::format("cannot write the trace '{}'", path.string()), system_error_text(error_number),
                   full ? "free some space, or write the trace to another disk with -o"
                        : "write the trace to a folder that you may write to with -o");
}

/// Makes what was written to `path` (a file or a folder) survive a power cut. Returns errno, 0 for success.
int flush_to_disk(const fs::path& path, int flags) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) return errno;
    const int error_number = ::fsync(descriptor) == 0 ? 0 : errno;
    ::close(descriptor);
    return error_number;
}

/// Finds a std::string by a view of it, without a copy.
struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

} // namespace

Result<fs::path> trace_destination(const fs::path& path) {
    const auto refusal = [&](std::string_view kind) {
        return usage_error(
            fmt::format("a trace cannot be written to '{}'", path.string()),
            fmt::format("it is {}, and a trace is an SQLite database, which needs a file", kind),
            "name a file with -o, such as -o trace.db");
    };
    if (path == "-") return refusal("stdout");
    std::error_code ignored; // what is not there, or cannot be asked for, is met when it is created
    switch (fs::status(path, ignored).type()) {
    case fs::file_type::directory:
        return refusal("a folder");
    case fs::file_type::fifo:
        return refusal("a pipe");
    case fs::file_type::socket:
        return refusal("a socket");
    case fs::file_type::character:
    case fs::file_type::block:
        return refusal("a device");
    default:
        return follow_links(path);
    }
}

struct TraceWriter::Impl {
    fs::path path; ///< links followed
    fs::path temporary_path;
    Database database;
    std::optional<Diagnostic> error;

    Statement meta, string, process, device, config, kernel, call, layout, arguments, memory_op, allocation,
        overhead, graph_launch, traffic;
    ModuleRowWriter modules;
    CaptureRowWriter captures;
    WindowRowWriter windows;
    NvtxRowWriter nvtx;
    std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>> string_ids;
    std::int64_t last_call_id = 0;
    std::map<std::array<std::int64_t, 12>, std::int64_t> config_ids;
    std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::int64_t> layout_ids;
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> arguments_ids;

    ~Impl() {
        if (temporary_path.empty()) return;
        database.close();
        ::unlink(temporary_path.c_str());
    }

    Result<void> begin();
    Result<void> finish();

    void keep(Result<void> result) {
        if (!result && !error) error = std::move(result).error();
    }
    template <class... Values>
    void insert(Statement& statement, const Values&... values) {
        if (!error) keep(statement.run(values...));
    }
    std::int64_t intern(std::string_view text);
    std::optional<std::int64_t> intern_if_given(const std::optional<std::string>& text);
};

Result<void> TraceWriter::Impl::begin() {
    DEEPJIT_CHECK(database.execute("BEGIN"));
    DEEPJIT_CHECK(database.execute(kSchemaSql));
    const auto prepare = [this](Statement& statement, std::string_view table,
                                std::string_view columns) -> Result<void> {
        std::string placeholders = "?";
        for (const char c : columns)
            if (c == ',') placeholders += ",?";
        DEEPJIT_TRY(statement, database.prepare(fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns,
                                                            placeholders)));
        return {};
    };
    DEEPJIT_TRY(meta, database.prepare("INSERT OR REPLACE INTO meta_entry (key, value) VALUES (?,?)"));
    DEEPJIT_CHECK(prepare(string, "string_entry", "string_id, value"));
    DEEPJIT_TRY(process, database.prepare(
                             "INSERT INTO process_entry (process_id, parent_process_id, start_ns, end_ns, "
                             "driver_version, cupti_version, dropped_records, lost_bytes) "
                             "VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (process_id) DO UPDATE SET "
                             "start_ns = min(start_ns, excluded.start_ns), "
                             "end_ns = max(end_ns, excluded.end_ns), "
                             "dropped_records = dropped_records + excluded.dropped_records, "
                             "lost_bytes = lost_bytes + excluded.lost_bytes"));
    DEEPJIT_TRY(device,
                database.prepare("INSERT OR IGNORE INTO device_entry (device_id, name, uuid, compute_major, "
                                 "compute_minor, multiprocessors, l2_bytes, memory_bytes, "
                                 "memory_bytes_per_second) VALUES (?,?,?,?,?,?,?,?,?)"));
    DEEPJIT_CHECK(prepare(config, "kernel_config_entry",
                          "config_id, mangled_name_id, name_id, grid_x, grid_y, grid_z, block_x, block_y, "
                          "block_z, registers_per_thread, static_shared_bytes, dynamic_shared_bytes, "
                          "local_bytes_per_thread"));
    DEEPJIT_CHECK(prepare(kernel, "kernel_entry",
                          "kernel_id, process_id, config_id, device_id, context_id, stream_id, start_ns, "
                          "end_ns, correlation_id, graph_id, graph_node_id, call_id, arguments_id, "
                          "nvtx_range_id"));
    DEEPJIT_CHECK(prepare(call, "host_call_entry",
                          "call_id, process_id, thread_id, category, api_id, start_ns, end_ns, result, "
                          "correlation_id, capturing"));
    DEEPJIT_CHECK(
        prepare(layout, "arguments_layout_entry", "layout_id, parameter_index, byte_offset, size_bytes"));
    DEEPJIT_CHECK(prepare(arguments, "arguments_entry", "arguments_id, layout_id, bytes"));
    DEEPJIT_CHECK(
        prepare(memory_op, "memory_op_entry",
                "memory_op_id, process_id, kind, device_id, context_id, stream_id, start_ns, end_ns, "
                "bytes, correlation_id, graph_id, graph_node_id, pageable, source_address, "
                "destination_address"));
    DEEPJIT_CHECK(prepare(allocation, "allocation_entry",
                          "allocation_id, process_id, device_id, address, bytes, start_ns, end_ns"));
    DEEPJIT_CHECK(prepare(overhead, "overhead_entry", "process_id, kind, start_ns, end_ns"));
    DEEPJIT_CHECK(prepare(graph_launch, "graph_launch_entry",
                          "process_id, device_id, context_id, stream_id, start_ns, end_ns, correlation_id, "
                          "graph_id, call_id, nvtx_range_id"));
    DEEPJIT_CHECK(prepare(traffic, "kernel_traffic_entry",
                          "kernel_id, dram_read_bytes, dram_written_bytes, l2_read_bytes, l2_written_bytes, "
                          "passes"));
    DEEPJIT_CHECK(modules.prepare(database));
    DEEPJIT_CHECK(captures.prepare(database));
    DEEPJIT_CHECK(windows.prepare(database));
    return nvtx.prepare(database);
}

std::int64_t TraceWriter::Impl::intern(std::string_view text) {
    if (const auto known = string_ids.find(text); known != string_ids.end()) return known->second;
    const auto id = static_cast<std::int64_t>(string_ids.size()) + 1;
    string_ids.emplace(text, id);
    insert(string, id, text);
    return id;
}

std::optional<std::int64_t> TraceWriter::Impl::intern_if_given(const std::optional<std::string>& text) {
    return text ? std::optional(intern(*text)) : std::nullopt;
}

Result<void> TraceWriter::Impl::finish() {
    if (error) return *error;
    DEEPJIT_CHECK(database.execute(kIndexesSql));
    DEEPJIT_CHECK(database.execute(kViewsSql));
    DEEPJIT_CHECK(database.execute("COMMIT"));
    for (Statement* statement : {&meta, &string, &process, &device, &config, &kernel, &call, &layout,
                                 &arguments, &memory_op, &allocation, &overhead, &graph_launch, &traffic})
        *statement = Statement();
    modules.release();
    nvtx.release();
    captures.release();
    windows.release();
    database.close();
    if (const int error_number = flush_to_disk(temporary_path, O_RDWR))
        return cannot_write(path, error_number);
    if (::rename(temporary_path.c_str(), path.c_str()) != 0) return cannot_write(path, errno);
    temporary_path.clear();
    // The trace is whole by now; some file systems cannot flush a folder, which is no reason to fail.
    flush_to_disk(path.has_parent_path() ? path.parent_path() : fs::path("."), O_RDONLY | O_DIRECTORY);
    return {};
}

TraceWriter::TraceWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter& TraceWriter::operator=(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

Result<TraceWriter> TraceWriter::create(const fs::path& given_path) {
    DEEPJIT_TRY(const fs::path path, trace_destination(given_path));
    // A name of its own: appended to the trace's it could become longer than the file system takes.
    std::string temporary = (path.parent_path() / ".deepjit-trace-XXXXXX").string();
    const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC); // mode 0600: arguments may be private
    if (descriptor < 0) return cannot_write(path, errno);
    ::close(descriptor);
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->temporary_path = temporary;
    DEEPJIT_TRY(impl->database, Database::open_for_building(temporary, path));
    DEEPJIT_CHECK(impl->database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                                     kApplicationId, kSchemaVersion)));
    DEEPJIT_CHECK(impl->begin());
    return TraceWriter(std::move(impl));
}

void TraceWriter::set_meta(std::string_view key, std::string_view value) {
    impl_->insert(impl_->meta, key, value);
}

std::int64_t TraceWriter::add_kernel_config(const KernelConfig& config) {
    const std::array<std::int64_t, 12> contents = {impl_->intern(config.mangled_name),
                                                   impl_->intern(config.name),
                                                   config.grid[0],
                                                   config.grid[1],
                                                   config.grid[2],
                                                   config.block[0],
                                                   config.block[1],
                                                   config.block[2],
                                                   config.registers_per_thread,
                                                   config.static_shared_bytes,
                                                   config.dynamic_shared_bytes,
                                                   config.local_bytes_per_thread};
    const auto [entry, is_new] =
        impl_->config_ids.try_emplace(contents, static_cast<std::int64_t>(impl_->config_ids.size()) + 1);
    if (is_new)
        std::apply([&](const auto&... values) { impl_->insert(impl_->config, entry->second, values...); },
                   contents);
    return entry->second;
}

std::int64_t TraceWriter::add_arguments(const Arguments& arguments) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> layout;
    for (const Parameter& parameter : arguments.parameters)
        layout.emplace_back(parameter.byte_offset, parameter.size_bytes);
    const auto [layout_entry, layout_is_new] =
        impl_->layout_ids.try_emplace(layout, static_cast<std::int64_t>(impl_->layout_ids.size()) + 1);
    if (layout_is_new)
        for (std::size_t i = 0; i < layout.size(); ++i)
            impl_->insert(impl_->layout, layout_entry->second, i, layout[i].first, layout[i].second);
    const auto [entry, is_new] = impl_->arguments_ids.try_emplace(
        {layout_entry->second, arguments.bytes}, static_cast<std::int64_t>(impl_->arguments_ids.size()) + 1);
    if (is_new) impl_->insert(impl_->arguments, entry->second, layout_entry->second, Blob{arguments.bytes});
    return entry->second;
}

void TraceWriter::add(const Process& process) {
    impl_->insert(impl_->process, process.process_id, process.parent_process_id, process.start_ns,
                  process.end_ns, process.driver_version, process.cupti_version, process.dropped_records,
                  process.lost_bytes);
}

void TraceWriter::add(const Device& device) {
    impl_->insert(impl_->device, device.device_id, std::string_view(device.name),
                  std::string_view(device.uuid), device.compute_major, device.compute_minor,
                  device.multiprocessors, device.l2_bytes, device.memory_bytes,
                  device.memory_bytes_per_second);
}

void TraceWriter::add(const Kernel& kernel) {
    impl_->insert(impl_->kernel, id_or_null(kernel.kernel_id), kernel.process_id, kernel.config_id,
                  kernel.device_id, kernel.context_id, kernel.stream_id, kernel.start_ns, kernel.end_ns,
                  kernel.correlation_id, kernel.graph_id, kernel.graph_node_id, id_or_null(kernel.call_id),
                  kernel.arguments_id, id_or_null(kernel.nvtx_range_id));
}

std::int64_t TraceWriter::add(const HostCall& call) {
    const std::int64_t call_id = call.call_id != 0 ? call.call_id : impl_->last_call_id + 1;
    impl_->last_call_id = std::max(impl_->last_call_id, call_id);
    impl_->insert(impl_->call, call_id, call.process_id, call.thread_id, static_cast<int>(call.category),
                  impl_->intern(call.api), call.start_ns, call.end_ns, call.result, call.correlation_id,
                  call.capturing);
    return call_id;
}

void TraceWriter::add(const MemoryOp& op) {
    impl_->insert(impl_->memory_op, id_or_null(op.memory_op_id), op.process_id, static_cast<int>(op.kind),
                  op.device_id, op.context_id, op.stream_id, op.start_ns, op.end_ns, op.bytes,
                  op.correlation_id, op.graph_id, op.graph_node_id, op.pageable, op.source_address,
                  op.destination_address);
}

void TraceWriter::add(const Allocation& allocation) {
    impl_->insert(impl_->allocation, id_or_null(allocation.allocation_id), allocation.process_id,
                  allocation.device_id, allocation.address, allocation.bytes, allocation.start_ns,
                  allocation.end_ns);
}

void TraceWriter::add(const RecordingWindow& window) {
    if (!impl_->error) impl_->keep(impl_->windows.add(window));
}

void TraceWriter::add(const Overhead& overhead) {
    impl_->insert(impl_->overhead, overhead.process_id, std::string_view(overhead.kind), overhead.start_ns,
                  overhead.end_ns);
}

void TraceWriter::add(const GraphLaunch& launch) {
    impl_->insert(impl_->graph_launch, launch.process_id, launch.device_id, launch.context_id,
                  launch.stream_id, launch.start_ns, launch.end_ns, launch.correlation_id, launch.graph_id,
                  id_or_null(launch.call_id), id_or_null(launch.nvtx_range_id));
}

std::int64_t TraceWriter::add_module_image(const ModuleImage& image) {
    if (impl_->error) return 0;
    auto image_id = impl_->modules.add_image(image);
    if (image_id) return *image_id;
    impl_->error = std::move(image_id).error();
    return 0;
}

void TraceWriter::add(const ModuleLoad& load) {
    if (!impl_->error) impl_->keep(impl_->modules.add_load(load));
}

void TraceWriter::add(const ModuleKernel& kernel) {
    const std::int64_t name_id = impl_->intern(kernel.mangled_name);
    if (!impl_->error) impl_->keep(impl_->modules.add_kernel(kernel.image_id, name_id));
}

std::int64_t TraceWriter::next_nvtx_domain_id() {
    return impl_->nvtx.next_domain_id();
}

std::int64_t TraceWriter::next_nvtx_range_id() {
    return impl_->nvtx.next_range_id();
}

void TraceWriter::add(const NvtxDomain& domain) {
    const auto name_id = impl_->intern_if_given(domain.name);
    if (!impl_->error) impl_->keep(impl_->nvtx.add(domain, name_id));
}

void TraceWriter::add(const NvtxCategory& category) {
    const auto name_id = impl_->intern_if_given(category.name);
    if (!impl_->error) impl_->keep(impl_->nvtx.add(category, name_id));
}

void TraceWriter::add(const NvtxRange& range) {
    const auto name_id = impl_->intern_if_given(range.name);
    if (!impl_->error) impl_->keep(impl_->nvtx.add(range, name_id));
}

void TraceWriter::add(const NvtxOperator& row) {
    const std::int64_t operator_id = impl_->intern(row.operator_name);
    if (!impl_->error) impl_->keep(impl_->nvtx.add(row, operator_id));
}

void TraceWriter::add(const CapturedBuffer& buffer) {
    if (!impl_->error) impl_->keep(impl_->captures.add(buffer));
}

void TraceWriter::add(const CapturedLaunch& launch) {
    if (!impl_->error) impl_->keep(impl_->captures.add(launch));
}

void TraceWriter::add(const KernelTraffic& traffic) {
    impl_->insert(impl_->traffic, traffic.kernel_id, traffic.dram_read_bytes, traffic.dram_written_bytes,
                  traffic.l2_read_bytes, traffic.l2_written_bytes, traffic.passes);
}

Result<void> TraceWriter::finish() {
    if (impl_->temporary_path.empty()) return failure("the trace was already finished");
    return impl_->finish();
}

} // namespace deepjit::trace
