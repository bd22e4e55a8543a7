#pragma once

#include "src/ingest/kernel_traffic_summary.hpp"
#include "src/trace/trace.hpp"
#include "src/wire/reader.hpp"
#include "src/wire/records.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace deepjit::ingest {

/// Joins what a second run measured to the kernels of the first: process by process in the order in which
/// they began to use the GPU, kernel by kernel in the order of their launches, and only where name, grid,
/// block, shared memory and device are the same.
class KernelTraffic {
  public:
    explicit KernelTraffic(trace::TraceWriter& trace) : trace_(trace) {}

    /// Reads one recording of the second run. `process_id` is what its file's name says.
    void add_counters(const wire::Reader& reader, std::uint32_t process_id);
    /// Makes the summary say that there was a second run, even where it recorded nothing.
    void expect_counters() { summary_.asked_for = true; }
    bool expected() const { return summary_.asked_for; }

    /// Of the first run, in any order.
    void add_config(const trace::KernelConfig& config, std::int64_t config_id);
    /// The id that the kernel must get.
    std::int64_t add_kernel(const trace::Kernel& kernel);

    /// Writes the rows. Call it once, after everything was added.
    TrafficSummary finish();

  private:
    /// A kernel as both runs know it.
    struct RunKernel {
        std::uint32_t identity = 0; ///< of name, configuration and device
        std::uint32_t correlation_id = 0;
        std::uint64_t graph_node_id = 0; ///< nodes are numbered in the order in which the program made them
        std::int64_t start_ns = 0;       ///< second run: of the launch call
        std::int64_t kernel_id = 0;      ///< first run
        std::optional<wire::TrafficBytes> bytes; ///< second run
    };
    struct RunProcess {
        std::int64_t first_start_ns = 0;
        std::vector<RunKernel> kernels;
    };
    using Processes = std::map<std::uint32_t, RunProcess>; ///< by process id
    class CounterRecording;

    std::uint32_t identity_of(const std::string& config_key, std::uint32_t device_id);
    static std::vector<RunProcess*> in_order(Processes& processes);
    void join(const RunProcess& timed, const RunProcess& counted);

    trace::TraceWriter& trace_;
    TrafficSummary summary_;
    std::unordered_map<std::string, std::uint32_t> identities_;
    std::unordered_map<std::int64_t, std::string> config_keys_; ///< of the first run, by the database's id
    Processes timed_;
    Processes counted_;
    std::int64_t last_kernel_id_ = 0;
};

} // namespace deepjit::ingest
