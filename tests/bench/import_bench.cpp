#include "src/base/files.hpp"
#include "src/ingest/import_wire.hpp"
#include "src/wire/encoder.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace deepjit::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kThreadId = 7;
constexpr int kKernelsPerFrame = 30;
constexpr std::uint16_t kLaunchApi = 307;
constexpr std::uint8_t kLaunchCategory = 1;

/// Writes records as the tracer does, in blocks.
class RecordingFile {
  public:
    explicit RecordingFile(const fs::path& path) : file_(path, std::ios::binary) {
        const wire::FileHeader header;
        file_.write(reinterpret_cast<const char*>(&header), sizeof header);
    }
    ~RecordingFile() { end_block(); }

    template <class Record>
    void write(const Record& record, std::string_view tail = {}) {
        if (payload_.size() + wire::encoded_bytes<Record>(tail.size()) > kBlockBytes) end_block();
        const std::size_t at = payload_.size();
        payload_.resize(at + wire::encoded_bytes<Record>(tail.size()));
        wire::encode(payload_.data() + at, record, tail);
    }
    void end_block() {
        const wire::BlockHeader header = wire::block_header(kThreadId, payload_);
        file_.write(reinterpret_cast<const char*>(&header), sizeof header);
        file_.write(reinterpret_cast<const char*>(payload_.data()),
                    static_cast<std::streamsize>(payload_.size()));
        payload_.clear();
    }

  private:
    static constexpr std::size_t kBlockBytes = 64 * 1024;
    std::ofstream file_;
    std::vector<std::byte> payload_;
};

/// A loop of frames of short kernels: launches and kernels in separate blocks, as they arrive from the
/// launching thread and from CUPTI.
void write_recording(const fs::path& folder, std::uint32_t kernels) {
    RecordingFile file(folder / "process-42.djw");
    wire::ProcessStart start;
    start.process_id = 42;
    start.time_ns = 1;
    file.write(start);
    wire::ApiName api;
    api.api_id = kLaunchApi;
    api.category = kLaunchCategory;
    file.write(api, "cuLaunchKernel");
    wire::String name;
    name.string_id = 1;
    file.write(name, "scale_and_shift");
    wire::ArgumentsLayout layout;
    layout.layout_id = 1;
    const wire::Parameter parameter{0, 8};
    file.write(layout, {reinterpret_cast<const char*>(&parameter), sizeof parameter});
    for (std::uint32_t id = 1; id <= kKernelsPerFrame; ++id) {
        wire::KernelConfig config;
        config.config_id = id;
        config.name_id = 1;
        config.grid[0] = id;
        file.write(config);
        wire::KernelSite site;
        site.site_id = id;
        site.config_id = id;
        site.stream_id = 13;
        file.write(site);
        wire::Arguments arguments;
        arguments.arguments_id = id;
        arguments.layout_id = 1;
        const std::uint64_t address = 0x7f00'0000'0000 + id * 4096;
        file.write(arguments, {reinterpret_cast<const char*>(&address), sizeof address});
    }
    constexpr std::uint32_t kBatch = 1500;
    constexpr std::int64_t kPeriod_ns = 3000;
    for (std::uint32_t first = 1; first <= kernels; first += kBatch) {
        const std::uint32_t end = std::min(first + kBatch, kernels + 1);
        for (std::uint32_t id = first; id < end; ++id) {
            wire::HostCall call;
            call.api_id = kLaunchApi;
            call.correlation_id = id;
            call.arguments_id = id % kKernelsPerFrame + 1;
            call.start_ns = 1'000'000 + id * kPeriod_ns;
            call.end_ns = call.start_ns + 1200;
            file.write(call);
        }
        file.end_block();
        for (std::uint32_t id = first; id < end; ++id) {
            wire::Kernel kernel;
            kernel.site_id = id % kKernelsPerFrame + 1;
            kernel.correlation_id = id;
            kernel.start_ns = 1'002'000 + id * kPeriod_ns;
            kernel.end_ns = kernel.start_ns + 2000;
            file.write(kernel);
        }
        file.end_block();
    }
    wire::ProcessEnd end;
    end.time_ns = 1'000'000 + (kernels + 1) * kPeriod_ns;
    file.write(end);
}

/// From the wire folder to a trace with its indexes. A kernel counts with its launch.
void import_a_recording(benchmark::State& state) {
    const auto kernels = static_cast<std::uint32_t>(state.range(0));
    const auto folder = make_temporary_directory("deepjit-import-bench");
    if (!folder) return state.SkipWithError("no temporary folder");
    write_recording(*folder, kernels);
    for (auto _ : state) {
        const auto summary = import_run_folder(*folder, *folder / "trace.db", {});
        if (!summary || summary->kernels_recorded != kernels || summary->unresolved_references != 0)
            return state.SkipWithError("the recording was not imported whole");
    }
    state.counters["kernels"] =
        benchmark::Counter(static_cast<double>(kernels), benchmark::Counter::kIsIterationInvariantRate);
    state.counters["bytes_a_kernel"] =
        static_cast<double>(fs::file_size(*folder / "trace.db")) / static_cast<double>(kernels);
    fs::remove_all(*folder);
}
BENCHMARK(import_a_recording)->Arg(1'000'000)->Arg(20'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace deepjit::ingest
