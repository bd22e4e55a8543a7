#include "src/ingest/import_wire.hpp"

#include "src/base/files.hpp"
#include "src/trace/trace.hpp"
#include "tests/unit/wire/wire_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

namespace deepjit::ingest {
namespace {

namespace fs = std::filesystem;
using wire::WireFile;

constexpr std::uint16_t kLaunchApi = 307;
constexpr std::uint16_t kGraphLaunchApi = 514;

class ImportRunFolder : public testing::Test {
  protected:
    void SetUp() override { folder_ = *make_temporary_directory("deepjit-test-run"); }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& contents) {
        std::ofstream(folder_ / name, std::ios::binary) << contents;
    }
    ImportSummary import() {
        auto summary = import_run_folder(folder_, folder_ / "trace.db", {{{"source", "test"}}});
        if (!summary) ADD_FAILURE() << summary.error().message << " " << summary.error().evidence;
        return std::move(summary).value_or({});
    }
    trace::Trace trace() { return *trace::Trace::open(folder_ / "trace.db"); }

    fs::path folder_;
};

void define_process(WireFile& file, std::uint32_t process_id) {
    wire::ProcessStart start;
    start.process_id = process_id;
    start.parent_process_id = 1;
    start.time_ns = 500;
    start.driver_version = 13'000;
    start.cupti_version = 130'001;
    wire::ApiName launch;
    launch.api_id = kLaunchApi;
    launch.category = static_cast<std::uint8_t>(trace::CallCategory::Launch);
    wire::ApiName graph_launch;
    graph_launch.api_id = kGraphLaunchApi;
    graph_launch.category = static_cast<std::uint8_t>(trace::CallCategory::GraphLaunch);
    file.add(start).add(launch, "cuLaunchKernel").add(graph_launch, "cuGraphLaunch");
}

/// Site 1 is `add` launched by itself, site 2 the same in graph 5 as node 77.
void define_kernels(WireFile& file) {
    wire::String name;
    name.string_id = 1;
    wire::KernelConfig config;
    config.config_id = 1;
    config.name_id = 1;
    config.grid[0] = 12;
    config.block[0] = 256;
    config.registers_per_thread = 20;
    wire::KernelSite alone;
    alone.site_id = 1;
    alone.config_id = 1;
    alone.stream_id = 7;
    wire::KernelSite in_graph = alone;
    in_graph.site_id = 2;
    in_graph.graph_id = 5;
    in_graph.graph_node_id = 77;
    file.add(name, "_Z3addPf").add(config).add(alone).add(in_graph);
}

void define_arguments(WireFile& file, std::uint32_t arguments_id, std::string_view bytes) {
    wire::ArgumentsLayout layout;
    layout.layout_id = 1;
    const wire::Parameter parameter{0, static_cast<std::uint32_t>(bytes.size())};
    wire::Arguments arguments;
    arguments.arguments_id = arguments_id;
    arguments.layout_id = 1;
    file.add(layout, {reinterpret_cast<const char*>(&parameter), sizeof parameter}).add(arguments, bytes);
}

wire::HostCall call(std::uint16_t api_id, std::uint32_t correlation_id, std::uint32_t arguments_id = 0) {
    wire::HostCall record;
    record.api_id = api_id;
    record.correlation_id = correlation_id;
    record.arguments_id = arguments_id;
    record.start_ns = 1'000 * correlation_id;
    record.end_ns = record.start_ns + 300;
    return record;
}

wire::Kernel kernel(std::uint32_t site_id, std::uint32_t correlation_id) {
    wire::Kernel record;
    record.site_id = site_id;
    record.correlation_id = correlation_id;
    record.start_ns = 1'000 * correlation_id + 500;
    record.end_ns = record.start_ns + 200;
    return record;
}

wire::Allocation allocation(std::uint64_t address, std::int64_t time_ns, bool is_free = false) {
    wire::Allocation record;
    record.header.flags = is_free ? wire::Allocation::kFree : 0;
    record.address = address;
    record.bytes = 64;
    record.time_ns = time_ns;
    return record;
}

TEST_F(ImportRunFolder, JoinsKernelsWithTheirCallsAndArguments) {
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    define_arguments(file, 9, "argument");
    // The kernel's record stands before that of its call.
    file.end_block().add(kernel(1, 3)).end_block(900).add(call(kLaunchApi, 3, 9)).end_block(41);
    write("process-40.djw", file.contents());

    const ImportSummary summary = import();
    EXPECT_EQ(summary.kernels_recorded, 1);
    EXPECT_EQ(summary.host_calls, 1);
    EXPECT_EQ(summary.launches_called, 1); // no status record arrived: counted from the calls
    EXPECT_EQ(summary.lost_bytes, 0);

    const auto kernels = *trace().kernels();
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].start_ns, 3'500);
    EXPECT_EQ(kernels[0].process_id, 40U);
    EXPECT_EQ(kernels[0].stream_id, 7U);
    const auto calls = *trace().host_calls();
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(kernels[0].call_id, calls[0].call_id);
    EXPECT_EQ(calls[0].api, "cuLaunchKernel");
    EXPECT_EQ(calls[0].thread_id, 41U);
    EXPECT_EQ(trace().arguments(kernels[0].arguments_id)->bytes, "argument");
    const auto configs = *trace().kernel_configs();
    ASSERT_EQ(configs.size(), 1U);
    EXPECT_EQ(configs[0].name, "add(float*)");
    EXPECT_EQ(configs[0].mangled_name, "_Z3addPf");
    EXPECT_EQ(configs[0].grid[0], 12U);
    EXPECT_EQ(trace().meta("source"), "test");
}

TEST_F(ImportRunFolder, GivesGraphKernelsTheArgumentsTheirNodeHolds) {
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    define_arguments(file, 9, "argument");
    wire::GraphNodeArguments captured;
    captured.graph_node_id = 70;
    captured.arguments_id = 9;
    wire::GraphNodeClone once;
    once.graph_node_id = 75;
    once.original_node_id = 70;
    wire::GraphNodeClone twice;
    twice.graph_node_id = 77;
    twice.original_node_id = 75;
    wire::HostCall captured_call = call(kLaunchApi, 2, 9);
    captured_call.header.flags = wire::HostCall::kCapturing;
    file.add(captured)
        .add(once)
        .add(twice)
        .add(captured_call)
        .add(call(kGraphLaunchApi, 6))
        .add(kernel(2, 6));
    write("process-40.djw", file.end_block().contents());

    EXPECT_EQ(import().launches_called, 1); // the captured launch started nothing
    const auto kernels = *trace().kernels();
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].graph_id, 5U);
    EXPECT_EQ(kernels[0].graph_node_id, 77U);
    ASSERT_NE(kernels[0].arguments_id, 0);
    EXPECT_EQ(trace().arguments(kernels[0].arguments_id)->bytes, "argument");
}

TEST_F(ImportRunFolder, GivesTheKernelsOfOneCallOnSeveralDevicesTheirOwnArguments) {
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    define_arguments(file, 9, "argument");
    define_arguments(file, 10, "another!");
    wire::KernelSite second_device;
    second_device.site_id = 3;
    second_device.config_id = 1;
    second_device.device_id = 1;
    file.add(second_device)
        .add(wire::DeviceLaunch{{}, 4, 0, 9})
        .add(wire::DeviceLaunch{{}, 4, 1, 10})
        .add(call(kLaunchApi, 4))
        .add(kernel(3, 4))
        .add(kernel(1, 4));
    write("process-40.djw", file.end_block().contents());
    import();
    const auto kernels = *trace().kernels();
    ASSERT_EQ(kernels.size(), 2U); // by device
    EXPECT_EQ(trace().arguments(kernels[0].arguments_id)->bytes, "argument");
    EXPECT_EQ(trace().arguments(kernels[1].arguments_id)->bytes, "another!");
}

TEST_F(ImportRunFolder, PairsAllocationsWithTheirFrees) {
    WireFile file;
    define_process(file, 40);
    file.add(allocation(0x200, 30, true)).add(allocation(0x200, 10)); // out of order, as buffers come
    file.add(allocation(0x200, 50));                                  // the address is handed out again
    file.add(allocation(0x300, 20)).add(allocation(0x300, 60));       // its free was lost
    file.add(allocation(0x900, 70, true));                            // allocated before recording began
    write("process-40.djw", file.end_block().contents());
    import();
    std::vector<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> spans;
    const auto allocations = *trace().allocations();
    for (const trace::Allocation& row : allocations) {
        spans.emplace_back(row.address, row.start_ns, row.end_ns.value_or(-1));
    }
    std::sort(spans.begin(), spans.end());
    const decltype(spans) expected = {{0x200, 10, 30}, {0x200, 50, -1}, {0x300, 20, 60}, {0x300, 60, -1}};
    EXPECT_EQ(spans, expected);
}

TEST_F(ImportRunFolder, GivesCopiesTheAddressesOfTheirCall) {
    WireFile file;
    define_process(file, 40);
    wire::CopyAddresses addresses;
    addresses.correlation_id = 4;
    addresses.source = 0x1000;
    addresses.destination = 0xFFFF'0000'0000'0001;
    wire::MemoryOp op;
    op.operation = static_cast<std::uint8_t>(trace::MemoryOpKind::HostToDevice);
    op.header.flags = wire::MemoryOp::kPageable;
    op.correlation_id = 4;
    op.start_ns = 10;
    op.end_ns = 20;
    op.bytes = 4096;
    write("process-40.djw", file.add(op).add(addresses).end_block().contents());
    EXPECT_EQ(import().memory_ops, 1);
    const auto ops = *trace().memory_ops();
    ASSERT_EQ(ops.size(), 1U);
    EXPECT_EQ(ops[0].kind, trace::MemoryOpKind::HostToDevice);
    EXPECT_EQ(ops[0].source_address, 0x1000U);
    EXPECT_EQ(ops[0].destination_address, 0xFFFF'0000'0000'0001U);
    EXPECT_TRUE(ops[0].pageable);
}

TEST_F(ImportRunFolder, CountsTimesThatCuptiCouldNotTake) {
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    wire::Kernel without = kernel(1, 2);
    without.start_ns = without.end_ns = 0;
    wire::Kernel still_running = kernel(1, 3);
    still_running.end_ns = 0;
    write("process-40.djw", file.add(kernel(1, 1)).add(without).add(still_running).end_block().contents());
    const ImportSummary summary = import();
    EXPECT_EQ(summary.kernels_recorded, 3);
    EXPECT_EQ(summary.zero_timestamps, 2);
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& row : kernels) {
        EXPECT_TRUE(row.start_ns == 1'500 || (row.start_ns == 0 && row.end_ns == 0));
    }
}

TEST_F(ImportRunFolder, JoinsAKernelToTheLaunchThatStartedItAndToNoOtherCall) {
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    wire::HostCall captured = call(kLaunchApi, 3);
    captured.header.flags = wire::HostCall::kCapturing;
    wire::HostCall failed = call(kLaunchApi, 3);
    failed.result = 719;
    // Out of order, as the blocks of two threads are; 5 has no call.
    file.add(captured).add(failed).add(call(kLaunchApi, 4)).add(call(kLaunchApi, 3));
    file.add(kernel(1, 3)).add(kernel(1, 4)).add(kernel(1, 5)).add(kernel(1, 3));
    write("process-40.djw", file.end_block().contents());
    import();
    const auto kernels = *trace().kernels();
    std::vector<std::int64_t> call_ids;
    for (const trace::Kernel& row : kernels)
        call_ids.push_back(row.call_id);
    EXPECT_EQ(call_ids, (std::vector<std::int64_t>{4, 4, 3, 0}));
}

TEST_F(ImportRunFolder, KeepsTwoImagesOfOneProcessApart) {
    for (const char* name : {"process-40.djw", "process-40.1.djw"}) {
        WireFile file;
        define_process(file, 40);
        define_kernels(file);
        define_arguments(file, 1, name);
        file.add(call(kLaunchApi, 3, 1)).add(kernel(1, 3));
        write(name, file.end_block().contents());
    }
    EXPECT_EQ(import().kernels_recorded, 2);
    const auto kernels = *trace().kernels();
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_NE(kernels[0].correlation_id, kernels[1].correlation_id);
    EXPECT_NE(kernels[0].call_id, kernels[1].call_id);
    EXPECT_NE(kernels[0].arguments_id, kernels[1].arguments_id);
    EXPECT_EQ(trace().processes()->size(), 1U);
}

TEST_F(ImportRunFolder, ReportsWhatTheTracerSawAndWhatWasLost) {
    WireFile file;
    define_process(file, 40);
    wire::TracerStatus status;
    status.cupti_result = 39;
    status.cupti_opened = 1;
    status.driver_initialised = 1;
    status.launches_called = 5;
    status.dropped_records = 8;
    file.add(status, "cuptiSubscribe returned 39.").end_block().add(kernel(1, 1)).end_block();
    file.contents() += "cut tail";
    wire::FileHeader header;
    header.stop_reason = wire::StopReason::WriteFailed;
    header.stop_errno = ENOSPC;
    std::memcpy(file.contents().data(), &header, sizeof header);
    write("process-40.djw", file.contents());

    const ImportSummary summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    const ProcessSummary& process = summary.processes[0];
    EXPECT_EQ(process.process_id, 40U);
    EXPECT_TRUE(process.cupti_opened);
    EXPECT_FALSE(process.subscribed);
    EXPECT_FALSE(process.ended);
    EXPECT_EQ(process.cupti_error, 39);
    EXPECT_EQ(process.error_text, "cuptiSubscribe returned 39.");
    EXPECT_EQ(process.write_error, system_error_text(ENOSPC));
    EXPECT_EQ(process.launches_called, 5);
    EXPECT_EQ(process.dropped_records, 8);
    EXPECT_EQ(process.lost_bytes, 8);
    EXPECT_TRUE(summary.driver_initialised);
    EXPECT_EQ(summary.unresolved_references, 1); // a kernel whose site was never defined
    const auto processes = *trace().processes();
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_FALSE(processes[0].end_ns);
    EXPECT_EQ(processes[0].lost_bytes, 8);
    EXPECT_EQ(processes[0].cupti_version, 130'001);
}

TEST_F(ImportRunFolder, NamesForeignFilesAndGoesOn) {
    write("process-7.djw", "this is no recording, whatever its name says");
    write("process-8.djw", "");
    fs::create_symlink("/etc/passwd", folder_ / "process-9.djw");
    write("notes.txt", "not looked at");
    WireFile file;
    define_process(file, 40);
    define_kernels(file);
    write("process-40.djw", file.add(kernel(1, 1)).end_block().contents());
    const ImportSummary summary = import();
    EXPECT_EQ(summary.kernels_recorded, 1);
    ASSERT_EQ(summary.processes.size(), 4U);
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(summary.processes[static_cast<std::size_t>(i)].error_text.empty()) << i;
    EXPECT_EQ(summary.processes[0].lost_bytes, 44);
}

TEST_F(ImportRunFolder, AnEmptyFolderMeansThatTheDriverWasNeverInitialised) {
    const ImportSummary summary = import();
    EXPECT_TRUE(summary.processes.empty());
    EXPECT_FALSE(summary.driver_initialised);
    EXPECT_TRUE(trace().kernels()->empty());
}

TEST_F(ImportRunFolder, SurvivesTheRecordingCutAtEveryByte) {
    WireFile file;
    define_process(file, 40);
    file.end_block();
    define_kernels(file);
    file.end_block();
    define_arguments(file, 9, "argument");
    file.add(call(kLaunchApi, 3, 9)).end_block().add(kernel(1, 3)).add(allocation(1, 2)).end_block();
    const std::string whole = file.contents();
    for (std::size_t size = 0; size < whole.size(); size += 7) {
        write("process-40.djw", whole.substr(0, size));
        const ImportSummary summary = import();
        ASSERT_EQ(summary.processes.size(), 1U);
        ASSERT_EQ(summary.processes[0].process_id, 40U);
        ASSERT_EQ(summary.kernels_recorded, 0);
    }
}

TEST_F(ImportRunFolder, NamesAFolderThatIsNotThere) {
    const auto summary = import_run_folder(folder_ / "absent", folder_ / "trace.db", {});
    ASSERT_FALSE(summary);
    EXPECT_NE(summary.error().message.find("absent"), std::string::npos);
    EXPECT_FALSE(fs::exists(folder_ / "trace.db"));
}

} // namespace
} // namespace deepjit::ingest
