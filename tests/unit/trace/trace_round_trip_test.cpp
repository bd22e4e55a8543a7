#include "src/trace/trace.hpp"
#include "tests/unit/trace/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

namespace deepjit::trace {
namespace {

KernelConfig config_named(std::string name) {
    KernelConfig config;
    config.name = name;
    config.mangled_name = "_Z" + name;
    config.grid = {132, 2, 3};
    config.block = {256, 4, 5};
    config.registers_per_thread = 32;
    config.static_shared_bytes = 1024;
    config.dynamic_shared_bytes = 49152;
    config.local_bytes_per_thread = 16;
    return config;
}

Kernel kernel_at(std::int64_t config_id, std::int64_t start_ns, std::uint32_t correlation_id) {
    Kernel kernel;
    kernel.config_id = config_id;
    kernel.start_ns = start_ns;
    kernel.end_ns = start_ns + 10;
    kernel.correlation_id = correlation_id;
    kernel.process_id = 7;
    return kernel;
}

HostCall launch_with(std::uint32_t correlation_id, std::uint32_t process_id) {
    HostCall call;
    call.category = CallCategory::Launch;
    call.api = "cuLaunchKernel";
    call.correlation_id = correlation_id;
    call.process_id = process_id;
    return call;
}

class RoundTrip : public testing::Test {
  protected:
    Trace read_back(TraceWriter& writer) {
        const auto finished = writer.finish();
        EXPECT_TRUE(finished) << finished.error().message << finished.error().evidence;
        return *Trace::open(path_);
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "trace.db";
    TraceWriter writer_ = *TraceWriter::create(path_);
};

TEST_F(RoundTrip, a_kernel_comes_back_with_every_field) {
    const std::int64_t config_id = writer_.add_kernel_config(config_named("scale"));
    Kernel kernel = kernel_at(config_id, 1'700'000'000'000'000'000, 11);
    kernel.kernel_id = 5;
    kernel.call_id = 0x1'0000'0004;
    kernel.arguments_id = 3;
    kernel.graph_node_id = 0xFFFF'FFFF'FFFF'FFFE;
    kernel.graph_id = 9;
    kernel.stream_id = 0xFFFF'FFFF;
    kernel.context_id = 2;
    kernel.device_id = 1;
    writer_.add(kernel);
    const Trace trace = read_back(writer_);

    const auto kernels = *trace.kernels();
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].kernel_id, 5);
    EXPECT_EQ(kernels[0].config_id, config_id);
    EXPECT_EQ(kernels[0].start_ns, 1'700'000'000'000'000'000);
    EXPECT_EQ(kernels[0].duration_ns(), 10);
    EXPECT_EQ(kernels[0].arguments_id, 3);
    EXPECT_EQ(kernels[0].graph_node_id, 0xFFFF'FFFF'FFFF'FFFE);
    EXPECT_EQ(kernels[0].graph_id, 9u);
    EXPECT_EQ(kernels[0].correlation_id, 11u);
    EXPECT_EQ(kernels[0].stream_id, 0xFFFF'FFFFu);
    EXPECT_EQ(kernels[0].context_id, 2u);
    EXPECT_EQ(kernels[0].device_id, 1u);
    EXPECT_EQ(kernels[0].process_id, 7u);
    EXPECT_EQ(kernels[0].call_id, 0x1'0000'0004);

    const auto configs = *trace.kernel_configs();
    ASSERT_EQ(configs.size(), 1u);
    EXPECT_EQ(configs[0].config_id, config_id);
    EXPECT_EQ(configs[0].name, "scale");
    EXPECT_EQ(configs[0].mangled_name, "_Zscale");
    EXPECT_EQ(configs[0].grid, (std::array<std::uint32_t, 3>{132, 2, 3}));
    EXPECT_EQ(configs[0].block, (std::array<std::uint32_t, 3>{256, 4, 5}));
    EXPECT_EQ(configs[0].registers_per_thread, 32u);
    EXPECT_EQ(configs[0].static_shared_bytes, 1024u);
    EXPECT_EQ(configs[0].dynamic_shared_bytes, 49152u);
    EXPECT_EQ(configs[0].local_bytes_per_thread, 16u);
}

TEST_F(RoundTrip, kernels_are_ordered_by_device_start_and_id) {
    const std::int64_t config_id = writer_.add_kernel_config(config_named("k"));
    Kernel on_second_device = kernel_at(config_id, 1, 1);
    on_second_device.device_id = 1;
    writer_.add(on_second_device);
    writer_.add(kernel_at(config_id, 300, 2));
    writer_.add(kernel_at(config_id, 200, 3));
    writer_.add(kernel_at(config_id, 200, 4));
    const auto kernels = *read_back(writer_).kernels();
    std::vector<std::uint32_t> order;
    for (const Kernel& kernel : kernels)
        order.push_back(kernel.correlation_id);
    EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 4, 2, 1}));
}

TEST_F(RoundTrip, a_call_gets_an_id_that_no_other_has) {
    EXPECT_EQ(writer_.add(launch_with(11, 7)), 1);
    HostCall numbered = launch_with(12, 7);
    numbered.call_id = 40;
    EXPECT_EQ(writer_.add(numbered), 40);
    EXPECT_EQ(writer_.add(launch_with(13, 7)), 41);
    const auto calls = *read_back(writer_).host_calls();
    std::vector<std::int64_t> ids;
    for (const HostCall& call : calls)
        ids.push_back(call.call_id);
    EXPECT_EQ(ids, (std::vector<std::int64_t>{1, 40, 41}));
}

TEST_F(RoundTrip, a_window_of_recording_comes_back_with_every_field) {
    writer_.add(RecordingWindow{100, 250, WindowBound::Frames, WindowBound::SizeLimit, 10, 12, 7});
    writer_.add(RecordingWindow{300, std::nullopt, WindowBound::Range, WindowBound::Unknown, 3, 0, 8});
    const auto windows = *read_back(writer_).recording_windows();
    ASSERT_EQ(windows.size(), 2u);
    EXPECT_EQ(windows[0].start_ns, 100);
    EXPECT_EQ(windows[0].end_ns, 250);
    EXPECT_EQ(windows[0].start_bound, WindowBound::Frames);
    EXPECT_EQ(windows[0].end_bound, WindowBound::SizeLimit);
    EXPECT_EQ(windows[0].start_frames, 10);
    EXPECT_EQ(windows[0].end_frames, 12);
    EXPECT_EQ(windows[0].process_id, 7u);
    EXPECT_EQ(windows[1].start_bound, WindowBound::Range);
    EXPECT_FALSE(windows[1].end_ns);
    EXPECT_EQ(windows[1].end_bound, WindowBound::Unknown);
}

TEST_F(RoundTrip, a_host_call_comes_back_with_every_field) {
    HostCall call = launch_with(11, 7);
    call.call_id = 42;
    call.category = CallCategory::GraphLaunch;
    call.start_ns = 100;
    call.end_ns = 250;
    call.result = 719;
    call.thread_id = 123;
    call.capturing = true;
    writer_.add(call);
    const auto calls = *read_back(writer_).host_calls();
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].call_id, 42);
    EXPECT_EQ(calls[0].category, CallCategory::GraphLaunch);
    EXPECT_EQ(calls[0].api, "cuLaunchKernel");
    EXPECT_EQ(calls[0].start_ns, 100);
    EXPECT_EQ(calls[0].end_ns, 250);
    EXPECT_EQ(calls[0].result, 719);
    EXPECT_EQ(calls[0].correlation_id, 11u);
    EXPECT_EQ(calls[0].thread_id, 123u);
    EXPECT_EQ(calls[0].process_id, 7u);
    EXPECT_TRUE(calls[0].capturing);
}

TEST_F(RoundTrip, copies_allocations_and_overheads_come_back_with_every_field) {
    MemoryOp op;
    op.memory_op_id = 6;
    op.kind = MemoryOpKind::PeerToPeer;
    op.start_ns = 10;
    op.end_ns = 20;
    op.bytes = 1LL << 40;
    op.source_address = 0xFFFF'8000'0000'0010;
    op.destination_address = 0x7f00'0000'0000;
    op.graph_node_id = 3;
    op.graph_id = 4;
    op.correlation_id = 5;
    op.stream_id = 6;
    op.context_id = 7;
    op.device_id = 8;
    op.process_id = 9;
    op.pageable = true;
    writer_.add(op);
    writer_.add(Allocation{1, 0xFFFF'0000'0000'0000, 1ULL << 33, 5, 99, 2, 7});
    writer_.add(Allocation{2, 0x7f00'0000'0000, 512, 6, std::nullopt, 2, 7});
    writer_.add(Overhead{"CUPTI buffer flush", 30, 40, 7});
    const Trace trace = read_back(writer_);

    const MemoryOp back = trace.memory_ops()->at(0);
    EXPECT_EQ(back.memory_op_id, 6);
    EXPECT_EQ(back.kind, MemoryOpKind::PeerToPeer);
    EXPECT_EQ(back.start_ns, 10);
    EXPECT_EQ(back.end_ns, 20);
    EXPECT_EQ(back.bytes, 1LL << 40);
    EXPECT_EQ(back.source_address, 0xFFFF'8000'0000'0010);
    EXPECT_EQ(back.destination_address, 0x7f00'0000'0000u);
    EXPECT_EQ(back.graph_node_id, 3u);
    EXPECT_EQ(back.graph_id, 4u);
    EXPECT_EQ(back.correlation_id, 5u);
    EXPECT_EQ(back.stream_id, 6u);
    EXPECT_EQ(back.context_id, 7u);
    EXPECT_EQ(back.device_id, 8u);
    EXPECT_EQ(back.process_id, 9u);
    EXPECT_TRUE(back.pageable);

    const auto allocations = *trace.allocations();
    ASSERT_EQ(allocations.size(), 2u);
    EXPECT_EQ(allocations[0].address, 0xFFFF'0000'0000'0000);
    EXPECT_EQ(allocations[0].bytes, 1ULL << 33);
    EXPECT_EQ(allocations[0].start_ns, 5);
    EXPECT_EQ(allocations[0].end_ns, 99);
    EXPECT_EQ(allocations[0].device_id, 2u);
    EXPECT_EQ(allocations[0].process_id, 7u);
    EXPECT_EQ(allocations[1].end_ns, std::nullopt);

    const Overhead overhead = trace.overheads()->at(0);
    EXPECT_EQ(overhead.kind, "CUPTI buffer flush");
    EXPECT_EQ(overhead.start_ns, 30);
    EXPECT_EQ(overhead.end_ns, 40);
    EXPECT_EQ(overhead.process_id, 7u);
}

TEST_F(RoundTrip, devices_and_processes_come_back_with_every_field) {
    writer_.add(Device{1, "NVIDIA H200", "GPU-1", 9, 0, 132, 50 << 20, 1LL << 37, 4'800'000'000'000});
    writer_.add(Process{7, 6, 100, 900, 13000, 130001, 2, 64});
    const Trace trace = read_back(writer_);
    const Device device = trace.devices()->at(0);
    EXPECT_EQ(device.device_id, 1u);
    EXPECT_EQ(device.name, "NVIDIA H200");
    EXPECT_EQ(device.uuid, "GPU-1");
    EXPECT_EQ(device.compute_major, 9);
    EXPECT_EQ(device.compute_minor, 0);
    EXPECT_EQ(device.multiprocessors, 132);
    EXPECT_EQ(device.l2_bytes, 50 << 20);
    EXPECT_EQ(device.memory_bytes, 1LL << 37);
    EXPECT_EQ(device.memory_bytes_per_second, 4'800'000'000'000);
    const Process process = trace.processes()->at(0);
    EXPECT_EQ(process.process_id, 7u);
    EXPECT_EQ(process.parent_process_id, 6u);
    EXPECT_EQ(process.start_ns, 100);
    EXPECT_EQ(process.end_ns, 900);
    EXPECT_EQ(process.driver_version, 13000);
    EXPECT_EQ(process.cupti_version, 130001);
    EXPECT_EQ(process.dropped_records, 2);
    EXPECT_EQ(process.lost_bytes, 64);
}

TEST_F(RoundTrip, a_process_given_twice_is_one_row_with_its_spans_united) {
    writer_.add(Process{7, 6, 500, 900, 13000, 130001, 2, 64});
    writer_.add(Process{7, 6, 100, 300, 13000, 130001, 1, 0});
    const auto processes = *read_back(writer_).processes();
    ASSERT_EQ(processes.size(), 1u);
    EXPECT_EQ(processes[0].start_ns, 100);
    EXPECT_EQ(processes[0].end_ns, 900);
    EXPECT_EQ(processes[0].dropped_records, 3);
    EXPECT_EQ(processes[0].lost_bytes, 64);
}

TEST_F(RoundTrip, arguments_are_kept_byte_for_byte_and_stored_once) {
    Arguments arguments;
    arguments.parameters = {{0, 8}, {8, 4}};
    arguments.bytes = std::string("\0\xff\x7f\0\0\0\0\0\1\2\3\4", 12);
    const std::int64_t first = writer_.add_arguments(arguments);
    EXPECT_EQ(writer_.add_arguments(arguments), first);
    Arguments other_layout = arguments;
    other_layout.parameters = {{0, 4}, {4, 8}};
    const std::int64_t second = writer_.add_arguments(other_layout);
    EXPECT_NE(second, first);
    const std::int64_t none = writer_.add_arguments(Arguments{});
    const Trace trace = read_back(writer_);

    const Arguments back = *trace.arguments(first);
    EXPECT_EQ(back.arguments_id, first);
    EXPECT_EQ(back.bytes, arguments.bytes);
    ASSERT_EQ(back.parameters.size(), 2u);
    EXPECT_EQ(back.parameters[1].byte_offset, 8u);
    EXPECT_EQ(back.parameters[1].size_bytes, 4u);
    EXPECT_EQ(trace.arguments(second)->parameters[0].size_bytes, 4u);
    EXPECT_TRUE(trace.arguments(none)->bytes.empty());
    EXPECT_TRUE(trace.arguments(none)->parameters.empty());
    EXPECT_EQ(trace.arguments(999).error().message,
              "the trace '" + path_.string() + "' holds no arguments with number 999");
}

TEST_F(RoundTrip, equal_configurations_share_one_id) {
    const std::int64_t first = writer_.add_kernel_config(config_named("a"));
    EXPECT_EQ(writer_.add_kernel_config(config_named("a")), first);
    KernelConfig wider = config_named("a");
    wider.grid[2] = 99;
    EXPECT_NE(writer_.add_kernel_config(wider), first);
    EXPECT_EQ(read_back(writer_).kernel_configs()->size(), 2u);
}

TEST_F(RoundTrip, names_of_8_KiB_and_bytes_that_are_not_UTF8_survive) {
    std::string long_name(8192, 'x');
    long_name += "'; DROP TABLE kernel_entry; --";
    const std::string odd_name("\xff\xfe\0\n\"*/../\xc3", 12);
    writer_.add_kernel_config(config_named(long_name));
    writer_.add_kernel_config(config_named(odd_name));
    HostCall call;
    call.api = odd_name;
    writer_.add(call);
    writer_.set_meta("host", odd_name);
    const Trace trace = read_back(writer_);
    const auto configs = *trace.kernel_configs();
    EXPECT_EQ(configs[0].name, long_name);
    EXPECT_EQ(configs[1].name, odd_name);
    EXPECT_EQ(configs[1].mangled_name, "_Z" + odd_name);
    EXPECT_EQ(trace.host_calls()->at(0).api, odd_name);
    EXPECT_EQ(trace.meta("host"), odd_name);
}

TEST_F(RoundTrip, meta_is_read_as_text_and_as_a_number_and_the_last_value_stays) {
    writer_.set_meta(meta_key::kSource, "first");
    writer_.set_meta(meta_key::kSource, "deepjit profile");
    writer_.set_meta(meta_key::kStreamLaunchNs, "3120.5");
    writer_.set_meta(meta_key::kHost, "12 monkeys");
    const Trace trace = read_back(writer_);
    EXPECT_EQ(trace.meta(meta_key::kSource), "deepjit profile");
    EXPECT_EQ(trace.meta_number(meta_key::kStreamLaunchNs), 3120.5);
    EXPECT_EQ(trace.meta_number(meta_key::kHost), std::nullopt);
    EXPECT_EQ(trace.meta("absent"), std::nullopt);
}

TEST_F(RoundTrip, an_empty_trace_is_a_trace) {
    const Trace trace = read_back(writer_);
    EXPECT_TRUE(trace.kernels()->empty());
    EXPECT_TRUE(trace.memory_ops()->empty());
}

TEST_F(RoundTrip, a_hundred_thousand_kernels_are_written) {
    const std::int64_t config_id = writer_.add_kernel_config(config_named("k"));
    for (std::uint32_t i = 1; i <= 100'000; ++i)
        writer_.add(kernel_at(config_id, i * 20, i));
    EXPECT_EQ(read_back(writer_).kernels()->size(), 100'000u);
}

TEST_F(RoundTrip, the_file_is_for_the_owner_alone) {
    const Trace trace = read_back(writer_);
    struct stat status {};
    ASSERT_EQ(::stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

} // namespace
} // namespace deepjit::trace
