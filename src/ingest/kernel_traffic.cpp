#include "src/ingest/kernel_traffic.hpp"

#include "src/ingest/sequence_alignment.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <tuple>

namespace deepjit::ingest {
namespace {

/// What must be the same for a kernel of one run to be that of another.
std::string key_of(const std::string& mangled_name, const std::array<std::uint32_t, 3>& grid,
                   const std::array<std::uint32_t, 3>& block, std::uint32_t dynamic_shared_bytes) {
    std::string key = mangled_name;
    for (const std::uint32_t number :
         {grid[0], grid[1], grid[2], block[0], block[1], block[2], dynamic_shared_bytes})
        key += ' ' + std::to_string(number);
    return key;
}

std::optional<std::int64_t> figure(std::uint64_t bytes) {
    if (bytes == wire::TrafficBytes::kNotMeasured) return std::nullopt;
    return static_cast<std::int64_t>(bytes);
}

} // namespace

/// One recording of the second run, taken apart. Its kernels have no times (CUPTI 13.0 takes none while the
/// Range Profiler runs), but their launches do, and those waited for each other.
class KernelTraffic::CounterRecording {
  public:
    explicit CounterRecording(KernelTraffic& owner) : owner_(owner) {}

    void read(const wire::Reader& reader);
    /// Gives figures to the kernels of each span whose number of kernels and of figures agree. Which figure
    /// is whose is known by the order alone, so that otherwise none of the span's is.
    std::vector<RunKernel> kernels();
    const wire::TrafficStatus& status() const { return status_; }
    const std::string& error_text() const { return error_text_; }

  private:
    struct Site {
        std::uint32_t identity = 0;
        std::uint32_t device_id = 0;
        std::uint32_t context_id = 0;
        std::uint64_t graph_node_id = 0;
    };
    struct Span {
        std::uint32_t total = 0;
        std::uint32_t dropped = 0;
        std::vector<wire::TrafficBytes> bytes;
        std::vector<RunKernel*> kernels;
    };

    void read_definition(const wire::RecordView& record);
    void add(const wire::TrafficRanges& ranges, std::string_view tail);

    KernelTraffic& owner_;
    wire::TrafficStatus status_;
    std::string error_text_;
    std::unordered_map<std::uint32_t, std::string> strings_;
    std::unordered_map<std::uint32_t, std::string> config_keys_;
    std::unordered_map<std::uint32_t, Site> sites_;
    std::map<std::uint32_t, std::map<std::int64_t, Span>> spans_;    ///< by context, then by start
    std::map<std::uint32_t, std::vector<RunKernel>> kernels_;        ///< by context
    std::unordered_map<std::uint32_t, std::int64_t> call_starts_ns_; ///< by correlation id
    std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> seen_;
};

void KernelTraffic::CounterRecording::read(const wire::Reader& reader) {
    wire::Reader definitions = reader;
    while (const auto record = definitions.next())
        read_definition(*record);
    wire::Reader dependents = reader;
    while (const auto record = dependents.next()) {
        const auto kernel = record->as<wire::Kernel>();
        if (!kernel) continue;
        const auto site = sites_.find(kernel->site_id);
        if (site == sites_.end()) continue;
        const auto call = call_starts_ns_.find(kernel->correlation_id);
        if (call == call_starts_ns_.end()) continue;
        // After a node of a graph CUPTI (13.0) runs a kernel of its own, WaitNs, under the node's ids.
        const std::tuple place(static_cast<std::uint32_t>(kernel->correlation_id), site->second.graph_node_id,
                               site->second.device_id);
        if (!seen_.insert(place).second) continue;
        RunKernel run_kernel;
        run_kernel.identity = site->second.identity;
        run_kernel.correlation_id = kernel->correlation_id;
        run_kernel.graph_node_id = site->second.graph_node_id;
        run_kernel.start_ns = call->second;
        kernels_[site->second.context_id].push_back(run_kernel);
    }
}

void KernelTraffic::CounterRecording::read_definition(const wire::RecordView& record) {
    if (const auto string = record.as<wire::String>()) {
        strings_[string->string_id] = record.tail<wire::String>();
    } else if (const auto config = record.as<wire::KernelConfig>()) {
        config_keys_[config->config_id] =
            key_of(strings_[config->name_id], {config->grid[0], config->grid[1], config->grid[2]},
                   {config->block[0], config->block[1], config->block[2]}, config->dynamic_shared_bytes);
    } else if (const auto site = record.as<wire::KernelSite>()) {
        sites_[site->site_id] = {owner_.identity_of(config_keys_[site->config_id], site->device_id),
                                 site->device_id, site->context_id, site->graph_node_id};
    } else if (const auto call = record.as<wire::HostCall>()) {
        const std::int64_t start_ns = call->start_ns;
        call_starts_ns_.try_emplace(call->correlation_id, start_ns);
    } else if (const auto status = record.as<wire::TrafficStatus>()) {
        status_ = *status;
        error_text_ = record.tail<wire::TrafficStatus>();
    } else if (const auto ranges = record.as<wire::TrafficRanges>()) {
        add(*ranges, record.tail<wire::TrafficRanges>());
    }
}

void KernelTraffic::CounterRecording::add(const wire::TrafficRanges& ranges, std::string_view tail) {
    const std::int64_t start_ns = ranges.start_ns; // packed fields cannot be passed by reference
    const std::uint32_t context_id = ranges.context_id;
    Span& span = spans_[context_id][start_ns];
    span.total = ranges.total;
    span.dropped = ranges.dropped;
    if (ranges.first != span.bytes.size()) return; // a record before it was lost
    for (std::size_t at = 0; at + sizeof(wire::TrafficBytes) <= tail.size();
         at += sizeof(wire::TrafficBytes)) {
        wire::TrafficBytes bytes;
        std::memcpy(&bytes, tail.data() + at, sizeof bytes);
        span.bytes.push_back(bytes);
    }
}

std::vector<KernelTraffic::RunKernel> KernelTraffic::CounterRecording::kernels() {
    std::vector<RunKernel> all;
    for (auto& [context_id, kernels] : kernels_) {
        std::stable_sort(kernels.begin(), kernels.end(),
                         [](const RunKernel& a, const RunKernel& b) { return a.start_ns < b.start_ns; });
        auto& spans = spans_[context_id];
        for (RunKernel& kernel : kernels) {
            const auto after = spans.upper_bound(kernel.start_ns);
            if (after != spans.begin()) std::prev(after)->second.kernels.push_back(&kernel);
        }
        for (auto& entry : spans) {
            Span& span = entry.second;
            if (span.dropped != 0 || span.kernels.size() != span.total || span.bytes.size() != span.total)
                continue;
            for (std::size_t i = 0; i < span.kernels.size(); ++i)
                span.kernels[i]->bytes = span.bytes[i];
        }
        all.insert(all.end(), kernels.begin(), kernels.end());
    }
    return all;
}

void KernelTraffic::add_counters(const wire::Reader& reader, std::uint32_t process_id) {
    expect_counters();
    CounterRecording recording(*this);
    recording.read(reader);
    summary_.passes = std::max<std::uint32_t>(summary_.passes, recording.status().passes);
    if (summary_.cupti_error == 0) {
        summary_.cupti_error = recording.status().cupti_result;
        summary_.error_text = recording.error_text();
    }
    RunProcess& process = counted_[process_id];
    // Two images of one process (exec) both count from 1.
    std::uint32_t offset = 0;
    for (const RunKernel& kernel : process.kernels)
        offset = std::max(offset, kernel.correlation_id);
    for (RunKernel& kernel : recording.kernels()) {
        kernel.correlation_id += offset;
        if (process.kernels.empty() || kernel.start_ns < process.first_start_ns)
            process.first_start_ns = kernel.start_ns;
        process.kernels.push_back(kernel);
        ++summary_.counted_kernels;
        if (kernel.bytes) ++summary_.measured_kernels;
    }
}

void KernelTraffic::add_config(const trace::KernelConfig& config, std::int64_t config_id) {
    if (!expected()) return;
    config_keys_.try_emplace(
        config_id, key_of(config.mangled_name, config.grid, config.block, config.dynamic_shared_bytes));
}

std::int64_t KernelTraffic::add_kernel(const trace::Kernel& kernel) {
    if (!expected()) return 0;
    RunKernel run_kernel;
    run_kernel.identity = identity_of(config_keys_[kernel.config_id], kernel.device_id);
    run_kernel.correlation_id = kernel.correlation_id;
    run_kernel.graph_node_id = kernel.graph_node_id;
    run_kernel.start_ns = kernel.start_ns;
    run_kernel.kernel_id = ++last_kernel_id_;
    RunProcess& process = timed_[kernel.process_id];
    if (process.kernels.empty() || kernel.start_ns < process.first_start_ns)
        process.first_start_ns = kernel.start_ns;
    process.kernels.push_back(run_kernel);
    ++summary_.timed_kernels;
    return run_kernel.kernel_id;
}

TrafficSummary KernelTraffic::finish() {
    const std::vector<RunProcess*> timed = in_order(timed_);
    const std::vector<RunProcess*> counted = in_order(counted_);
    for (std::size_t i = 0; i < std::min(timed.size(), counted.size()); ++i)
        join(*timed[i], *counted[i]);
    return summary_;
}

std::uint32_t KernelTraffic::identity_of(const std::string& config_key, std::uint32_t device_id) {
    const auto next = static_cast<std::uint32_t>(identities_.size());
    return identities_.try_emplace(std::to_string(device_id) + ' ' + config_key, next).first->second;
}

std::vector<KernelTraffic::RunProcess*> KernelTraffic::in_order(Processes& processes) {
    std::vector<RunProcess*> order;
    for (auto& entry : processes) {
        RunProcess& process = entry.second;
        if (process.kernels.empty()) continue;
        // The kernels of a graph launch share its correlation id.
        std::stable_sort(process.kernels.begin(), process.kernels.end(),
                         [](const RunKernel& a, const RunKernel& b) {
                             return std::tie(a.correlation_id, a.graph_node_id, a.start_ns) <
                                    std::tie(b.correlation_id, b.graph_node_id, b.start_ns);
                         });
        order.push_back(&process);
    }
    std::stable_sort(order.begin(), order.end(), [](const RunProcess* a, const RunProcess* b) {
        return a->first_start_ns < b->first_start_ns;
    });
    return order;
}

void KernelTraffic::join(const RunProcess& timed, const RunProcess& counted) {
    const auto identities = [](const RunProcess& process) {
        std::vector<std::uint32_t> sequence;
        sequence.reserve(process.kernels.size());
        for (const RunKernel& kernel : process.kernels)
            sequence.push_back(kernel.identity);
        return sequence;
    };
    for (const auto& [in_timed, in_counted] : align_sequences(identities(timed), identities(counted))) {
        ++summary_.matched_kernels;
        const auto& bytes = counted.kernels[in_counted].bytes;
        if (!bytes) continue;
        trace::KernelTraffic row;
        row.kernel_id = timed.kernels[in_timed].kernel_id;
        row.dram_read_bytes = figure(bytes->dram_read);
        row.dram_written_bytes = figure(bytes->dram_written);
        row.l2_read_bytes = figure(bytes->l2_read);
        row.l2_written_bytes = figure(bytes->l2_written);
        row.passes = summary_.passes;
        summary_.has_dram = summary_.has_dram || row.dram_read_bytes.has_value();
        summary_.has_l2 = summary_.has_l2 || row.l2_read_bytes.has_value();
        trace_.add(row);
        ++summary_.joined_kernels;
    }
}

} // namespace deepjit::ingest
