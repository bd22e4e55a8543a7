#pragma once

#include "src/base/result.hpp"
#include "src/trace/records.hpp"
#include "src/trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace deepjit::model {

/// Constants of the machine, as `deepjit calibrate` or `profile` stored them; absent where not measured.
struct Calibration {
    std::optional<double> stream_launch_ns;   ///< submitting one empty kernel to a stream
    std::optional<double> graph_intercept_ns; ///< fixed cost of one CUDA Graph replay
    std::optional<double> graph_node_ns;      ///< cost of one more empty node in a replay
    std::optional<double> tracer_launch_ns;   ///< what tracing adds to the host's time for one launch
    /// What tracing adds to a frame for each launch of a graph in it, and for each of the graph's nodes.
    std::optional<double> tracer_graph_ns;
    std::optional<double> tracer_graph_node_ns;
};

/// A whole trace in memory. Analyzers are pure functions of it; tests build one by hand.
/// Order: kernels and memory_ops by (device, start), host_calls and overheads by start; load_trace_data and
/// `index` see to it.
struct TraceData {
    std::vector<trace::KernelConfig> kernel_configs;
    std::vector<trace::Kernel> kernels;
    std::vector<trace::HostCall> host_calls;
    std::vector<trace::MemoryOp> memory_ops;
    bool selects_part = false;                      ///< only a part of the run was to be recorded
    std::vector<trace::RecordingWindow> windows;    ///< the parts of the run that were recorded
    std::vector<trace::GraphLaunch> graph_launches; ///< recorded as a whole, without their kernels
    std::vector<trace::Allocation> allocations;
    std::vector<trace::Overhead> overheads;
    std::vector<trace::Device> devices;
    std::vector<trace::Process> processes;
    std::unordered_map<std::int64_t, trace::Arguments> arguments;          ///< by arguments_id
    std::unordered_map<std::int64_t, trace::KernelTraffic> kernel_traffic; ///< measured; by kernel_id
    Calibration calibration;
    std::string source;       ///< tool that recorded it
    std::string tracer_error; ///< why a process could not be watched or its kernels recorded; else empty

    /// Sorts the records and builds the look-up tables below. Call it after filling the vectors by hand.
    void index();

    /// Null where the trace has no such record.
    const trace::KernelConfig* config_of(const trace::Kernel& kernel) const;
    const trace::HostCall* call_of(const trace::Kernel& kernel) const;
    const trace::Arguments* arguments_of(const trace::Kernel& kernel) const;
    const trace::Kernel* kernel(std::int64_t kernel_id) const;

  private:
    std::unordered_map<std::int64_t, std::size_t> config_index_;
    std::unordered_map<std::int64_t, std::size_t> call_index_;
    std::unordered_map<std::int64_t, std::size_t> kernel_index_;
};

/// Reads everything once. Errors are those of the trace file.
Result<TraceData> load_trace_data(const trace::Trace& trace);

} // namespace deepjit::model
