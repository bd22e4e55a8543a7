#include "src/model/trace_data.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace deepjit::model {

void TraceData::index() {
    const auto by_device_and_start = [](const auto& a, const auto& b) {
        return std::tie(a.device_id, a.start_ns, a.end_ns) < std::tie(b.device_id, b.start_ns, b.end_ns);
    };
    const auto by_start = [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; };
    std::stable_sort(kernels.begin(), kernels.end(), by_device_and_start);
    std::stable_sort(memory_ops.begin(), memory_ops.end(), by_device_and_start);
    std::stable_sort(host_calls.begin(), host_calls.end(), by_start);
    std::stable_sort(overheads.begin(), overheads.end(), by_start);

    config_index_.clear();
    call_index_.clear();
    kernel_index_.clear();
    for (std::size_t i = 0; i < kernel_configs.size(); ++i)
        config_index_[kernel_configs[i].config_id] = i;
    for (std::size_t i = 0; i < host_calls.size(); ++i)
        call_index_[host_calls[i].call_id] = i;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        kernel_index_[kernels[i].kernel_id] = i;
}

namespace {

template <class Value>
const Value* find(const std::unordered_map<std::int64_t, std::size_t>& index,
                  const std::vector<Value>& values, std::int64_t id) {
    const auto found = index.find(id);
    return found == index.end() ? nullptr : &values[found->second];
}

} // namespace

const trace::KernelConfig* TraceData::config_of(const trace::Kernel& kernel) const {
    return find(config_index_, kernel_configs, kernel.config_id);
}

const trace::HostCall* TraceData::call_of(const trace::Kernel& kernel) const {
    return kernel.call_id == 0 ? nullptr : find(call_index_, host_calls, kernel.call_id);
}

const trace::Kernel* TraceData::kernel(std::int64_t kernel_id) const {
    return find(kernel_index_, kernels, kernel_id);
}

const trace::Arguments* TraceData::arguments_of(const trace::Kernel& kernel) const {
    const auto found = arguments.find(kernel.arguments_id);
    return kernel.arguments_id == 0 || found == arguments.end() ? nullptr : &found->second;
}

Result<TraceData> load_trace_data(const trace::Trace& trace) {
    TraceData data;
    DEEPJIT_TRY(data.kernel_configs, trace.kernel_configs());
    DEEPJIT_TRY(data.kernels, trace.kernels());
    DEEPJIT_TRY(data.host_calls, trace.host_calls());
    DEEPJIT_TRY(data.memory_ops, trace.memory_ops());
    DEEPJIT_TRY(data.graph_launches, trace.graph_launches());
    DEEPJIT_TRY(data.windows, trace.recording_windows());
    DEEPJIT_TRY(data.allocations, trace.allocations());
    DEEPJIT_TRY(data.overheads, trace.overheads());
    DEEPJIT_TRY(data.devices, trace.devices());
    DEEPJIT_TRY(data.processes, trace.processes());
    DEEPJIT_TRY(const std::vector<trace::KernelTraffic> measured, trace.kernel_traffic());
    for (const trace::KernelTraffic& traffic : measured)
        data.kernel_traffic.emplace(traffic.kernel_id, traffic);
    for (const trace::Kernel& kernel : data.kernels) {
        if (kernel.arguments_id == 0 || data.arguments.count(kernel.arguments_id) != 0) continue;
        DEEPJIT_TRY(data.arguments[kernel.arguments_id], trace.arguments(kernel.arguments_id));
    }
    data.calibration.stream_launch_ns = trace.meta_number(trace::meta_key::kStreamLaunchNs);
    data.calibration.graph_intercept_ns = trace.meta_number(trace::meta_key::kGraphInterceptNs);
    data.calibration.graph_node_ns = trace.meta_number(trace::meta_key::kGraphNodeNs);
    data.calibration.tracer_launch_ns = trace.meta_number(trace::meta_key::kTracerLaunchNs);
    data.calibration.tracer_graph_ns = trace.meta_number(trace::meta_key::kTracerGraphNs);
    data.calibration.tracer_graph_node_ns = trace.meta_number(trace::meta_key::kTracerGraphNodeNs);
    data.selects_part = trace.meta(trace::meta_key::kSelectsPart).has_value();
    data.source = trace.meta(trace::meta_key::kSource).value_or("");
    data.tracer_error = trace.meta(trace::meta_key::kTracerError).value_or("");
    data.index();
    return data;
}

} // namespace deepjit::model
