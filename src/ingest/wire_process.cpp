#include "src/ingest/wire_process.hpp"

#include "src/base/files.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace deepjit::ingest {
namespace {

trace::CallCategory category_of(std::uint8_t number) {
    return number <= static_cast<std::uint8_t>(trace::CallCategory::ModuleLoad)
               ? static_cast<trace::CallCategory>(number)
               : trace::CallCategory::Other;
}

trace::MemoryOpKind operation_of(std::uint8_t number) {
    return number <= static_cast<std::uint8_t>(trace::MemoryOpKind::Memset)
               ? static_cast<trace::MemoryOpKind>(number)
               : trace::MemoryOpKind::Other;
}

/// "GPU-00112233-4455-…", as nvidia-smi prints it.
std::string uuid_text(const std::uint8_t (&uuid)[16]) {
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", uuid[i]);
    }
    return text;
}

std::uint64_t device_launch_key(std::uint32_t correlation_id, std::uint32_t device_id) {
    return std::uint64_t{correlation_id} << 32U | device_id;
}

} // namespace

WireProcess::WireProcess(trace::TraceWriter& trace, ModuleImages& images, CapturedBuffers& captures,
                         std::uint32_t process_id, std::uint32_t correlation_offset)
    : trace_(trace), images_(images), captures_(captures), correlation_offset_(correlation_offset) {
    summary_.process_id = process_.process_id = process_id;
}

void WireProcess::import(const wire::Reader& reader) {
    nvtx_.read_ahead(reader);
    wire::Reader definitions = reader;
    while (const auto record = definitions.next())
        read_definition(*record);
    nvtx_.finish();
    // Stable: of two calls that share a correlation id the first holds.
    const auto by_correlation = [](const Launch& a, const Launch& b) {
        return a.correlation_id < b.correlation_id;
    };
    if (!std::is_sorted(launches_.begin(), launches_.end(), by_correlation))
        std::stable_sort(launches_.begin(), launches_.end(), by_correlation);
    launch_has_work_.assign(launches_.size(), false);
    wire::Reader dependents = reader;
    while (const auto record = dependents.next())
        read_dependent(*record);
    add_allocations();
    images_.add(image_totals_);

    const wire::FileHeader& header = reader.file_header();
    if (header.stop_reason == wire::StopReason::WriteFailed) {
        summary_.write_error = system_error_text(header.stop_errno);
    }
    windows_.finish(trace_, process_.process_id, header, process_.end_ns);
    summary_.selects_part = windows_.selects_part();
    summary_.windows = windows_.count();
    summary_.recorded_to_the_end = windows_.open_at_end();
    summary_.launches_without_kernels = std::count(launch_has_work_.begin(), launch_has_work_.end(), false);
    summary_.reached_size_limit = header.stop_reason == wire::StopReason::SizeLimit;
    // One that reached its limit at once may not even hold its start.
    if (header.stop_reason != wire::StopReason::None && process_.start_ns != 0)
        summary_.recorded_for_ns = header.stop_time_ns - process_.start_ns;
    // A process that was killed may have launched more than its last status says.
    summary_.launches_called = std::max(summary_.launches_called, launches_seen_);
    summary_.lost_bytes = static_cast<std::int64_t>(definitions.lost_bytes());
    add_process();
}

void WireProcess::read_definition(const wire::RecordView& record) {
    if (const auto start = record.as<wire::ProcessStart>()) {
        summary_.process_id = process_.process_id = start->process_id;
        process_.parent_process_id = start->parent_process_id;
        process_.start_ns = start->time_ns;
        process_.driver_version = start->driver_version;
        process_.cupti_version = static_cast<int>(start->cupti_version);
    } else if (const auto end = record.as<wire::ProcessEnd>()) {
        process_.end_ns = end->time_ns;
        summary_.ended = true;
    } else if (const auto status = record.as<wire::TracerStatus>()) {
        summary_.cupti_opened = status->cupti_opened != 0;
        summary_.subscribed = status->subscribed != 0;
        summary_.reached_cuda = (record.flags & wire::TracerStatus::kBeforeCuda) == 0;
        summary_.driver_initialised = status->driver_initialised != 0;
        summary_.flush_hangs = (record.flags & wire::TracerStatus::kFlushHangs) != 0;
        summary_.cupti_error = status->cupti_result;
        summary_.error_text = record.tail<wire::TracerStatus>();
        summary_.launches_called = static_cast<std::int64_t>(status->launches_called);
        summary_.dropped_records = static_cast<std::int64_t>(status->dropped_records);
    } else if (const auto device = record.as<wire::Device>()) {
        add(*device, record.tail<wire::Device>());
    } else if (const auto string = record.as<wire::String>()) {
        strings_[string->string_id] = record.tail<wire::String>();
    } else if (const auto api = record.as<wire::ApiName>()) {
        apis_[api->api_id] = {category_of(api->category), std::string(record.tail<wire::ApiName>())};
    } else if (const auto config = record.as<wire::KernelConfig>()) {
        add(*config);
    } else if (const auto site = record.as<wire::KernelSite>()) {
        const auto found = config_ids_.find(site->config_id);
        if (found == config_ids_.end())
            ++unresolved_references_;
        else
            sites_[site->site_id] = {*site, found->second};
    } else if (const auto call = record.as<wire::HostCall>()) {
        add(*call, record.thread_id);
    } else if (const auto addresses = record.as<wire::CopyAddresses>()) {
        copy_addresses_[addresses->correlation_id] = *addresses;
    } else if (!nvtx_.read(record) && !read_graph_or_image(record)) {
        read_definition_of_arguments(record);
    }
}

void WireProcess::read_definition_of_arguments(const wire::RecordView& record) {
    if (const auto layout = record.as<wire::ArgumentsLayout>()) {
        const std::string_view tail = record.tail<wire::ArgumentsLayout>();
        auto& parameters = layouts_[layout->layout_id];
        parameters.clear();
        for (std::size_t at = 0; at + sizeof(wire::Parameter) <= tail.size(); at += sizeof(wire::Parameter)) {
            wire::Parameter parameter;
            std::memcpy(&parameter, tail.data() + at, sizeof parameter);
            parameters.push_back({parameter.byte_offset, parameter.size_bytes});
        }
    } else if (const auto block = record.as<wire::Arguments>()) {
        const auto found = layouts_.find(block->layout_id);
        if (found == layouts_.end()) {
            ++unresolved_references_;
            return;
        }
        trace::Arguments arguments;
        arguments.parameters = found->second;
        arguments.bytes = record.tail<wire::Arguments>();
        arguments_ids_[block->arguments_id] = trace_.add_arguments(arguments);
    }
}

bool WireProcess::read_graph_or_image(const wire::RecordView& record) {
    if (const auto node = record.as<wire::GraphNodeArguments>()) {
        graph_nodes_.add(*node);
    } else if (const auto copy = record.as<wire::GraphNodeCopyAddresses>()) {
        graph_nodes_.add(*copy);
    } else if (const auto clone = record.as<wire::GraphNodeClone>()) {
        graph_nodes_.add(*clone);
    } else if (const auto update = record.as<wire::GraphNodeUpdate>()) {
        graph_nodes_.add(*update);
    } else if (const auto unknown = record.as<wire::GraphExecUpdate>()) {
        graph_nodes_.add(*unknown);
    } else if (const auto launch = record.as<wire::DeviceLaunch>()) {
        device_launches_[device_launch_key(launch->correlation_id, launch->device_id)] = launch->arguments_id;
    } else if (const auto batch = record.as<wire::BatchCopyAddresses>()) {
        batch_addresses_[batch->correlation_id].push_back(*batch);
    } else if (const auto image = record.as<wire::ModuleImage>()) {
        images_.add(*image, record.tail<wire::ModuleImage>(), process_.process_id);
    } else if (const auto totals = record.as<wire::ModuleImageTotals>()) {
        image_totals_ = *totals;
    } else {
        return false;
    }
    return true;
}

void WireProcess::read_dependent(const wire::RecordView& record) {
    if (const auto kernel = record.as<wire::Kernel>()) {
        add(*kernel);
    } else if (const auto op = record.as<wire::MemoryOp>()) {
        add(*op);
    } else if (const auto launch = record.as<wire::GraphLaunch>()) {
        add(*launch);
    } else if (const auto allocation = record.as<wire::Allocation>()) {
        allocations_.push_back(*allocation);
    } else if (record.kind == wire::RecordKind::CapturedBuffer ||
               record.kind == wire::RecordKind::CapturedLaunch) {
        read_capture(record);
    } else if (const auto selection = record.as<wire::RecordingSelection>()) {
        windows_.add(*selection);
    } else if (const auto opened = record.as<wire::WindowStart>()) {
        windows_.add(*opened);
    } else if (const auto closed = record.as<wire::WindowEnd>()) {
        windows_.add(*closed);
    } else if (const auto overhead = record.as<wire::Overhead>()) {
        trace::Overhead row;
        row.kind = record.tail<wire::Overhead>();
        row.start_ns = overhead->start_ns;
        row.end_ns = overhead->end_ns;
        row.process_id = process_.process_id;
        trace_.add(row);
    }
}

void WireProcess::read_capture(const wire::RecordView& record) {
    if (const auto buffer = record.as<wire::CapturedBuffer>()) {
        captures_.add(*buffer, process_.process_id);
    } else if (const auto launch = record.as<wire::CapturedLaunch>()) {
        trace::CapturedLaunch row;
        row.step = launch->step;
        row.correlation_id = shifted(launch->correlation_id);
        row.arguments_id = database_arguments_id(launch->arguments_id);
        row.process_id = process_.process_id;
        captures_.add(row);
    }
}

void WireProcess::add(const wire::Device& device, std::string_view name) {
    trace::Device row;
    row.device_id = device.device_id;
    row.name = name;
    row.uuid = uuid_text(device.uuid);
    row.compute_major = device.compute_major;
    row.compute_minor = device.compute_minor;
    row.multiprocessors = device.multiprocessors;
    row.l2_bytes = device.l2_bytes;
    row.memory_bytes = device.memory_bytes;
    row.memory_bytes_per_second = device.memory_bytes_per_second;
    trace_.add(row);
}

void WireProcess::add(const wire::KernelConfig& config) {
    const auto name = strings_.find(config.name_id);
    if (name == strings_.end()) {
        ++unresolved_references_;
        return;
    }
    trace::KernelConfig row;
    row.mangled_name = name->second;
    row.name = demangle(name->second);
    images_.add_launched_kernel(name->second);
    std::copy(std::begin(config.grid), std::end(config.grid), row.grid.begin());
    std::copy(std::begin(config.block), std::end(config.block), row.block.begin());
    row.registers_per_thread = config.registers_per_thread;
    row.static_shared_bytes = config.static_shared_bytes;
    row.dynamic_shared_bytes = config.dynamic_shared_bytes;
    row.local_bytes_per_thread = config.local_bytes_per_thread;
    const std::int64_t config_id = trace_.add_kernel_config(row);
    config_ids_[config.config_id] = config_id;
    if (traffic_ != nullptr) traffic_->add_config(row, config_id);
}

void WireProcess::add(const wire::HostCall& call, std::uint32_t thread_id) {
    const auto api = apis_.find(call.api_id);
    if (api == apis_.end()) {
        ++unresolved_references_;
        return;
    }
    trace::HostCall row;
    row.category = api->second.category;
    row.api = api->second.name;
    row.start_ns = call.start_ns;
    row.end_ns = call.end_ns;
    row.result = call.result;
    row.correlation_id = shifted(call.correlation_id);
    row.thread_id = thread_id;
    row.process_id = process_.process_id;
    row.capturing = (call.header.flags & wire::HostCall::kCapturing) != 0;
    const std::int64_t call_id = trace_.add(row);
    ++host_calls_;
    if (row.capturing || row.result != 0) return;
    const bool is_launch = row.category == trace::CallCategory::Launch;
    const bool is_graph_launch = row.category == trace::CallCategory::GraphLaunch;
    if (is_launch || is_graph_launch) {
        if (launches_seen_++ == 0) first_launch_ns_ = call.start_ns;
        summary_.launched_for_ns = std::max(summary_.launched_for_ns, call.end_ns - first_launch_ns_);
        nvtx_.add_launch(thread_id, call.correlation_id, call.start_ns);
        launches_.push_back({call.correlation_id, call.arguments_id, call_id});
    }
    if (is_graph_launch) graph_launch_times_[call.correlation_id] = call.start_ns;
}

void WireProcess::add(const wire::Kernel& kernel) {
    const auto site = sites_.find(kernel.site_id);
    if (site == sites_.end()) {
        ++unresolved_references_;
        return;
    }
    const wire::KernelSite& where = site->second.wire;
    trace::Kernel row;
    row.config_id = site->second.config_id;
    // A forced flush hands out a kernel that still runs, with no end.
    const bool has_times = kernel.start_ns != 0 && kernel.end_ns != 0;
    row.start_ns = has_times ? kernel.start_ns : 0;
    row.end_ns = has_times ? kernel.end_ns : 0;
    const Launch* const launch = launch_of(kernel.correlation_id);
    row.call_id = launch != nullptr ? launch->call_id : 0;
    row.arguments_id =
        where.graph_node_id != 0
            ? database_arguments_id(graph_nodes_
                                        .contents_of(where.graph_node_id, where.graph_id,
                                                     launch_time_ns(kernel.correlation_id, kernel.start_ns))
                                        .arguments_id)
            : arguments_of(launch, kernel.correlation_id, where.device_id);
    row.nvtx_range_id = nvtx_.range_of_launch(kernel.correlation_id);
    row.graph_node_id = where.graph_node_id;
    row.graph_id = where.graph_id;
    row.correlation_id = shifted(kernel.correlation_id);
    row.stream_id = where.stream_id;
    row.context_id = where.context_id;
    row.device_id = where.device_id;
    row.process_id = process_.process_id;
    if (traffic_ != nullptr) row.kernel_id = traffic_->add_kernel(row);
    trace_.add(row);
    ++summary_.kernels_recorded;
    if (!has_times) ++summary_.zero_timestamps;
}

void WireProcess::add(const wire::MemoryOp& op) {
    trace::MemoryOp row;
    row.kind = operation_of(op.operation);
    row.start_ns = op.start_ns;
    row.end_ns = op.end_ns;
    row.bytes = static_cast<std::int64_t>(op.bytes);
    set_addresses(row, op);
    row.graph_node_id = op.graph_node_id;
    row.graph_id = op.graph_id;
    row.correlation_id = shifted(op.correlation_id);
    row.stream_id = op.stream_id;
    row.context_id = op.context_id;
    row.device_id = op.device_id;
    row.process_id = process_.process_id;
    row.pageable = (op.header.flags & wire::MemoryOp::kPageable) != 0;
    trace_.add(row);
    ++memory_ops_;
}

void WireProcess::set_addresses(trace::MemoryOp& row, const wire::MemoryOp& op) {
    if (op.graph_node_id != 0) {
        const GraphNodeContents held = graph_nodes_.contents_of(
            op.graph_node_id, op.graph_id, launch_time_ns(op.correlation_id, op.start_ns));
        row.source_address = held.copy_source;
        row.destination_address = held.copy_destination;
    } else if (const auto found = copy_addresses_.find(op.correlation_id); found != copy_addresses_.end()) {
        row.source_address = found->second.source;
        row.destination_address = found->second.destination;
    } else if (const auto batch = batch_addresses_.find(op.correlation_id); batch != batch_addresses_.end()) {
        auto& pieces = batch->second;
        const auto piece = std::find_if(pieces.begin(), pieces.end(),
                                        [&](const auto& candidate) { return candidate.bytes == op.bytes; });
        if (piece == pieces.end()) return;
        row.source_address = piece->source;
        row.destination_address = piece->destination;
        pieces.erase(piece); // pieces of one size are taken in their order
    }
}

void WireProcess::add(const wire::GraphLaunch& launch) {
    trace::GraphLaunch row;
    const bool has_times = launch.start_ns != 0 && launch.end_ns != 0;
    row.start_ns = has_times ? launch.start_ns : 0;
    row.end_ns = has_times ? launch.end_ns : 0;
    if (const Launch* const call = launch_of(launch.correlation_id)) row.call_id = call->call_id;
    row.nvtx_range_id = nvtx_.range_of_launch(launch.correlation_id);
    row.graph_id = launch.graph_id;
    row.correlation_id = shifted(launch.correlation_id);
    row.stream_id = launch.stream_id;
    row.context_id = launch.context_id;
    row.device_id = launch.device_id;
    row.process_id = process_.process_id;
    trace_.add(row);
    ++summary_.graph_launches;
    if (!has_times) ++summary_.zero_timestamps;
}

void WireProcess::add_allocations() {
    std::stable_sort(allocations_.begin(), allocations_.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    std::unordered_map<std::uint64_t, trace::Allocation> live;
    for (const wire::Allocation& event : allocations_) {
        const std::uint64_t address = event.address; // packed fields cannot be passed by reference
        // An address that is handed out again was freed, even where the record of that is missing.
        if (const auto found = live.find(address); found != live.end()) {
            found->second.end_ns = event.time_ns;
            trace_.add(found->second);
            live.erase(found);
        }
        if ((event.header.flags & wire::Allocation::kFree) != 0) continue;
        trace::Allocation row;
        row.address = address;
        row.bytes = event.bytes;
        row.start_ns = event.time_ns;
        row.device_id = event.device_id;
        row.process_id = process_.process_id;
        live.emplace(address, row);
    }
    std::vector<trace::Allocation> never_freed;
    for (const auto& entry : live)
        never_freed.push_back(entry.second);
    std::sort(never_freed.begin(), never_freed.end(), [](const auto& a, const auto& b) {
        return std::pair(a.start_ns, a.address) < std::pair(b.start_ns, b.address);
    });
    for (const trace::Allocation& row : never_freed)
        trace_.add(row);
}

void WireProcess::add_process() {
    process_.dropped_records = summary_.dropped_records;
    process_.lost_bytes = summary_.lost_bytes;
    trace_.add(process_);
}

const WireProcess::Launch* WireProcess::launch_of(std::uint32_t correlation_id) {
    const auto is_at = [&](std::size_t place) {
        return place < launches_.size() && launches_[place].correlation_id == correlation_id;
    };
    if (!is_at(launch_cursor_) && is_at(launch_cursor_ + 1)) ++launch_cursor_;
    if (is_at(launch_cursor_)) {
        launch_has_work_[launch_cursor_] = true;
        return &launches_[launch_cursor_];
    }
    const auto found =
        std::lower_bound(launches_.begin(), launches_.end(), correlation_id,
                         [](const Launch& launch, std::uint32_t id) { return launch.correlation_id < id; });
    if (found == launches_.end() || found->correlation_id != correlation_id) return nullptr;
    launch_cursor_ = static_cast<std::size_t>(found - launches_.begin());
    launch_has_work_[launch_cursor_] = true;
    return &*found;
}

std::int64_t WireProcess::arguments_of(const Launch* launch, std::uint32_t correlation_id,
                                       std::uint32_t device_id) {
    if (launch != nullptr && launch->arguments_id != 0) return database_arguments_id(launch->arguments_id);
    if (device_launches_.empty()) return 0;
    const auto of_device = device_launches_.find(device_launch_key(correlation_id, device_id));
    return of_device == device_launches_.end() ? 0 : database_arguments_id(of_device->second);
}

std::int64_t WireProcess::launch_time_ns(std::uint32_t correlation_id, std::int64_t otherwise_ns) const {
    const auto found = graph_launch_times_.find(correlation_id);
    return found != graph_launch_times_.end() ? found->second : otherwise_ns;
}

std::int64_t WireProcess::database_arguments_id(std::uint32_t arguments_id) const {
    const auto found = arguments_ids_.find(arguments_id);
    return found != arguments_ids_.end() ? found->second : 0;
}

std::uint32_t WireProcess::shifted(std::uint32_t correlation_id) {
    const std::uint32_t id = correlation_id + correlation_offset_;
    last_correlation_id_ = std::max(last_correlation_id_, id);
    return id;
}

} // namespace deepjit::ingest
