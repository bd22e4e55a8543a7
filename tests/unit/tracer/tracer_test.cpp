#include "tests/unit/tracer/traced_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

using testing::HasSubstr;

TEST_F(Tracer, RecordsEveryKernelAndItsLaunchCall) {
    EXPECT_EQ(launch({"--frames", "500", "--kernels", "20"}).code, 0);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_EQ(summary.kernels_recorded, 10'000);
    EXPECT_EQ(summary.launches_called, 10'000);
    EXPECT_EQ(summary.lost_bytes, 0);
    EXPECT_EQ(summary.unresolved_references, 0);
    EXPECT_TRUE(summary.driver_initialised);
    EXPECT_TRUE(summary.processes[0].subscribed);
    EXPECT_TRUE(summary.processes[0].ended);
    EXPECT_EQ(summary.processes[0].error_text, "");

    std::set<std::int64_t> calls;
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& kernel : kernels) {
        EXPECT_NE(kernel.call_id, 0);
        EXPECT_NE(kernel.arguments_id, 0);
        EXPECT_EQ(kernel.duration_ns(), 2'000);
        calls.insert(kernel.call_id);
    }
    EXPECT_EQ(calls.size(), 10'000U);

    const auto devices = *trace().devices();
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].name, "Fake GPU");
    EXPECT_EQ(devices[0].compute_major, 9);
    EXPECT_EQ(devices[0].multiprocessors, 132);
    EXPECT_EQ(devices[0].uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    const auto processes = *trace().processes();
    ASSERT_EQ(processes.size(), 1U);
    EXPECT_EQ(processes[0].driver_version, 13'000);
    EXPECT_EQ(processes[0].cupti_version, 130'001);
}

TEST_F(Tracer, AKernelAndItsLaunchTakeAtMost64BytesInASteadyLoop) {
    const auto size_after = [&](const char* frames) {
        EXPECT_EQ(launch({"--frames", frames, "--kernels", "30"}).code, 0);
        std::uintmax_t bytes = 0;
        for (const auto& entry : fs::directory_iterator(folder_))
            bytes += entry.file_size();
        for (const auto& entry : fs::directory_iterator(folder_))
            fs::remove(entry.path());
        return static_cast<double>(bytes);
    };
    const double few = size_after("100");
    const double many = size_after("1100");
    // Each frame also has one synchronisation, a call without a kernel.
    EXPECT_LE((many - few) / (1000.0 * 30) - 32.0 / 30, 64.0);
}

class ArgumentForms : public Tracer, public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ArgumentForms, AreSavedByteForByte) {
    const fs::path file = folder_ / "arguments.txt";
    std::vector<std::string> options = {"--frames", "3", "--kernels", "7", "--arguments-to", file.string()};
    options.insert(options.end(), GetParam().begin(), GetParam().end());
    EXPECT_EQ(launch(options).code, 0);
    EXPECT_EQ(import().kernels_recorded, 21);
    const auto expected = lines_of(file);
    ASSERT_EQ(expected.size(), 21U);
    EXPECT_EQ(arguments_of_kernels(), expected);
    EXPECT_EQ(std::count(expected.begin(), expected.end(), ""), 6); // kernels that have no parameters
}

INSTANTIATE_TEST_SUITE_P(, ArgumentForms,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--library"},
                                         std::vector<std::string>{"--extra"},
                                         std::vector<std::string>{"--launch-ex"},
                                         std::vector<std::string>{"--launch-ex", "--extra", "--library"},
                                         std::vector<std::string>{"--cooperative", "--library"},
                                         std::vector<std::string>{"--on-devices"}));

TEST_F(Tracer, GraphKernelsHaveTheArgumentsOfTheirCapturedLaunches) {
    const fs::path file = folder_ / "arguments.txt";
    EXPECT_EQ(launch({"--frames", "4", "--kernels", "6", "--graph", "--arguments-to", file.string()}).code,
              0);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 24);
    EXPECT_EQ(summary.launches_called, 4); // graph launches; the six captured ones started nothing

    const auto captured = lines_of(file);
    ASSERT_EQ(captured.size(), 6U);
    std::vector<std::string> expected;
    for (int frame = 0; frame < 4; ++frame)
        expected.insert(expected.end(), captured.begin(), captured.end());
    EXPECT_EQ(arguments_of_kernels(), expected);

    int capturing = 0;
    const auto calls = *trace().host_calls();
    for (const trace::HostCall& call : calls) {
        if (call.capturing) ++capturing;
        EXPECT_EQ(call.capturing, call.api == "cuLaunchKernel") << call.api;
    }
    EXPECT_EQ(capturing, 6);
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& kernel : kernels) {
        EXPECT_NE(kernel.graph_id, 0U);
        EXPECT_NE(kernel.call_id, 0); // the graph launch
    }
}

TEST_F(Tracer, KeepsNamesOfAnyBytesAndEightKibibytes) {
    EXPECT_EQ(launch({"--frames", "1", "--kernels", "5", "--odd-names"}).code, 0);
    EXPECT_EQ(import().kernels_recorded, 5);
    std::set<std::string> names;
    const auto configs = *trace().kernel_configs();
    for (const trace::KernelConfig& config : configs)
        names.insert(config.mangled_name);
    EXPECT_TRUE(names.contains("odd \"name\"\n*/ ../\xff\xfe'; DROP TABLE kernels; --"));
    EXPECT_TRUE(names.contains("_Z4long" + std::string(8 * 1024 - 7, 'n')));
}

TEST_F(Tracer, RecordsCopiesAllocationsAndWaits) {
    EXPECT_EQ(launch({"--frames", "3", "--kernels", "2", "--copies"}).code, 0);
    EXPECT_EQ(import().memory_ops, 9);
    const auto ops = *trace().memory_ops();
    const auto allocations = *trace().allocations();
    ASSERT_EQ(allocations.size(), 3U);
    std::set<std::uint64_t> addresses;
    int never_freed = 0;
    for (const trace::Allocation& allocation : allocations) {
        addresses.insert(allocation.address);
        EXPECT_EQ(allocation.bytes, 4096U);
        if (!allocation.end_ns) ++never_freed;
    }
    EXPECT_EQ(never_freed, 1);
    for (const trace::MemoryOp& op : ops) {
        const bool from_device = op.kind == trace::MemoryOpKind::DeviceToHost;
        EXPECT_TRUE(addresses.contains(from_device ? op.source_address : op.destination_address));
        EXPECT_EQ(op.pageable, op.kind != trace::MemoryOpKind::Memset);
    }
    std::set<std::string> apis;
    const auto calls = *trace().host_calls();
    for (const trace::HostCall& call : calls) {
        apis.insert(call.api);
        EXPECT_LE(call.start_ns, call.end_ns);
        EXPECT_EQ(call.result, 0);
    }
    for (const char* api : {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",
                            "cuMemsetD8Async", "cuStreamSynchronize", "cuLaunchKernel", "cuModuleLoadData"}) {
        EXPECT_TRUE(apis.contains(api)) << api;
    }
}

TEST_F(Tracer, ThreadsAreToldApart) {
    EXPECT_EQ(launch({"--frames", "50", "--kernels", "10", "--threads", "4"}).code, 0);
    EXPECT_EQ(import().kernels_recorded, 2'000);
    std::map<std::uint32_t, int> launches;
    const auto calls = *trace().host_calls();
    for (const trace::HostCall& call : calls) {
        if (call.category == trace::CallCategory::Launch) ++launches[call.thread_id];
    }
    ASSERT_EQ(launches.size(), 4U);
    for (const auto& [thread, count] : launches)
        EXPECT_EQ(count, 500) << thread;
}

TEST_F(Tracer, AForkedChildThatExitsDisturbsNothing) {
    EXPECT_EQ(launch({"--frames", "20", "--kernels", "5", "--fork"}).code, 0);
    EXPECT_EQ(recordings(), 1U);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 200); // before and after the fork
    EXPECT_EQ(summary.lost_bytes, 0);
    EXPECT_TRUE(summary.processes.at(0).ended);
}

TEST_F(Tracer, EachImageOfAProcessHasItsOwnRecording) {
    EXPECT_EQ(launch({"--frames", "20", "--kernels", "5", "--frame-pause-us", "20000", "--exec-self"}).code,
              0);
    EXPECT_EQ(recordings(), 2U);
    const auto summary = import();
    EXPECT_GE(summary.kernels_recorded, 100 + 50); // exec costs what the first image had not flushed
    EXPECT_LE(summary.kernels_recorded, 200);
    EXPECT_EQ(trace().processes()->size(), 1U);
}

class Endings : public Tracer, public testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(Endings, PassThroughAndCostAtMostTheLast200Milliseconds) {
    const auto [ending, signal] = GetParam();
    const ExitStatus status = launch(
        {"--frames", "100", "--kernels", "5", "--frame-pause-us", "10000", "--end", ending, "--status", "7"});
    EXPECT_EQ(status.signal, signal);
    EXPECT_EQ(status.code, signal == 0 ? 7 : 0);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    const bool told_its_end = std::string(ending) == "return";
    EXPECT_EQ(summary.processes[0].ended, told_its_end);
    EXPECT_LE(summary.kernels_recorded, 500);
    // A frame takes at least 10 ms: twenty frames in 200 ms.
    EXPECT_GE(summary.kernels_recorded, told_its_end ? 500 : 500 - 20 * 5);
    EXPECT_EQ(summary.unresolved_references, 0);
}

INSTANTIATE_TEST_SUITE_P(, Endings,
                         testing::Values(std::pair("return", 0), std::pair("_exit", 0),
                                         std::pair("abort", SIGABRT), std::pair("term", SIGTERM),
                                         std::pair("kill", SIGKILL)));

TEST_F(Tracer, AProgramWithoutCudaLeavesNoRecording) {
    EXPECT_EQ(run_program("fake_cuda_none", {"5"}).status.code, 5);
    EXPECT_EQ(recordings(), 0U);
    EXPECT_FALSE(import().driver_initialised);
}

TEST_F(Tracer, AnInitialisedDriverWithoutLaunchesIsToldApart) {
    EXPECT_EQ(launch({"--frames", "0"}).code, 0);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_TRUE(summary.driver_initialised);
    EXPECT_EQ(summary.launches_called, 0);
    EXPECT_EQ(summary.kernels_recorded, 0);
}

TEST_F(Tracer, ADriverThatDoesNotInitialiseIsNotCalledInitialised) {
    Command command;
    command.arguments = {FAKE_CUDA_FOLDER "/fake_cuda_launch"};
    command.environment = tracing_environment();
    command.environment.emplace_back("FAKE_CUDA_INIT_ERROR", "100");
    command.capture_output = true;
    const auto ended = run(command);
    EXPECT_EQ(std::get<Finished>(ended).status.code, 3);
    EXPECT_FALSE(import().driver_initialised);
}

class CuptiErrors : public Tracer,
                    public testing::WithParamInterface<std::tuple<const char*, int, const char*>> {};

TEST_P(CuptiErrors, AreReportedAndTheTargetGoesOn) {
    const auto [variable, error, name] = GetParam();
    EXPECT_EQ(
        launch({"--frames", "5", "--kernels", "4", "--status", "9"}, {{variable, std::to_string(error)}})
            .code,
        9);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_EQ(summary.processes[0].cupti_error, error);
    EXPECT_THAT(summary.processes[0].error_text, HasSubstr(name));
    EXPECT_EQ(summary.processes[0].subscribed, std::string(variable) == "FAKE_CUDA_ENABLE_ERROR");
    EXPECT_EQ(summary.kernels_recorded, 0);
}

INSTANTIATE_TEST_SUITE_P(
    , CuptiErrors,
    testing::Values(std::tuple("FAKE_CUDA_SUBSCRIBE_ERROR", 39, "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"),
                    std::tuple("FAKE_CUDA_SUBSCRIBE_ERROR", 35, "INSUFFICIENT_PRIVILEGES"),
                    std::tuple("FAKE_CUDA_SUBSCRIBE_ERROR", 15, "NOT_INITIALIZED"),
                    std::tuple("FAKE_CUDA_ENABLE_ERROR", 35, "INSUFFICIENT_PRIVILEGES")));

TEST_F(Tracer, TheOwnerOfCuptiIsNamedWhereCuptiTells) {
    EXPECT_EQ(launch({"--status", "6"},
                     {{"FAKE_CUDA_SUBSCRIBE_ERROR", "39"}, {"FAKE_CUDA_SUBSCRIBER_NAME", "CUPTI for Nsight"}})
                  .code,
              6);
    EXPECT_THAT(import().processes.at(0).error_text, HasSubstr("The subscriber is 'CUPTI for Nsight'."));
}

TEST_F(Tracer, RecordsOfCupti12AreReadByTheirOwnLayout) {
    // The fake one fills what lies behind a record with other bytes.
    const Environment cupti_12 = {{"FAKE_CUDA_CUPTI_VERSION", "26"}, {"FAKE_CUDA_DRIVER_VERSION", "12080"}};
    EXPECT_EQ(launch({"--frames", "3", "--kernels", "4", "--copies"}, cupti_12).code, 0);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 12);
    EXPECT_EQ(summary.memory_ops, 9);
    const auto kernels = *trace().kernels();
    for (const trace::Kernel& kernel : kernels) {
        EXPECT_NE(kernel.call_id, 0);
        EXPECT_NE(kernel.arguments_id, 0);
        EXPECT_EQ(kernel.duration_ns(), 2'000);
        EXPECT_EQ(kernel.graph_id, 0U);
    }
    const auto configs = *trace().kernel_configs();
    for (const trace::KernelConfig& config : configs) {
        EXPECT_EQ(config.registers_per_thread, 32U);
        EXPECT_EQ(config.block[0], 256U);
        EXPECT_EQ(config.dynamic_shared_bytes, 0U);
    }
    const auto ops = *trace().memory_ops();
    for (const trace::MemoryOp& op : ops) {
        EXPECT_EQ(op.bytes, 4096);
        EXPECT_NE(op.kind, trace::MemoryOpKind::Other);
        EXPECT_LT(op.start_ns, op.end_ns);
    }
    EXPECT_EQ(trace().allocations()->size(), 5U);
    EXPECT_EQ(trace().processes()->at(0).cupti_version, 26);
}

TEST_F(Tracer, GraphsOfCupti12AreReadByTheirOwnLayout) {
    EXPECT_EQ(launch({"--frames", "3", "--kernels", "4", "--graph"},
                     {{"FAKE_CUDA_CUPTI_VERSION", "24"}, {"DEEPJIT_TRACER_GRAPH_LEVEL", "1"}})
                  .code,
              0);
    EXPECT_EQ(import().graph_launches, 3);
    const auto launches = *trace().graph_launches();
    ASSERT_EQ(launches.size(), 3U);
    for (const trace::GraphLaunch& launch : launches) {
        EXPECT_LT(launch.start_ns, launch.end_ns);
        EXPECT_NE(launch.graph_id, 0U);
    }
}

class ChoiceOfCupti : public Tracer {
  protected:
    /// The CUPTI that was opened, from the text of an error.
    std::string opened_with(Environment variables) {
        variables.emplace_back("FAKE_CUDA_SUBSCRIBE_ERROR", "15");
        variables.emplace_back("DEEPJIT_CUPTI_LIBRARY", "");
        launch({"--frames", "1"}, variables);
        const std::string text = import().processes.at(0).error_text;
        const std::size_t begin = text.find("CUPTI is ");
        return text.substr(begin, text.find(" of API version") - begin);
    }
    fs::path toolkit_with(const std::string& folder, const std::string& name) {
        const fs::path toolkit = folder_ / ("toolkit-" + name);
        fs::create_directories(toolkit / folder);
        fs::copy_file(FAKE_CUDA_FOLDER "/libcupti.so.13", toolkit / folder / name);
        return toolkit;
    }
};

TEST_F(ChoiceOfCupti, TheToolkitsGoesBeforeTheLoaders) {
    const fs::path toolkit = toolkit_with("extras/CUPTI/lib64", "libcupti.so.13");
    // The loader would find another copy, in the folder of the driver.
    EXPECT_EQ(opened_with({{"CUDA_HOME", toolkit.string()}}),
              "CUPTI is " + (toolkit / "extras/CUPTI/lib64/libcupti.so.13").string());
}

TEST_F(ChoiceOfCupti, TheCopyThatIsInTheProcessGoesBeforeAll) {
    const fs::path toolkit = toolkit_with("lib64", "libcupti.so.13");
    EXPECT_EQ(
        opened_with({{"CUDA_HOME", toolkit.string()}, {"LD_PRELOAD", FAKE_CUDA_FOLDER "/libcupti.so.13"}}),
        "CUPTI is " FAKE_CUDA_FOLDER "/libcupti.so.13");
}

TEST_F(ChoiceOfCupti, ADriverOfCuda12GetsCupti12) {
    const fs::path toolkit = toolkit_with("lib64", "libcupti.so.12");
    EXPECT_EQ(opened_with({{"CUDA_HOME", toolkit.string()}, {"FAKE_CUDA_DRIVER_VERSION", "12040"}}),
              "CUPTI is " + (toolkit / "lib64/libcupti.so.12").string());
}

TEST_F(Tracer, AMissingCuptiIsReportedAndTheTargetGoesOn) {
    EXPECT_EQ(launch({"--status", "6"}, {{"DEEPJIT_CUPTI_LIBRARY", "/absent/libcupti.so"}}).code, 6);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_FALSE(summary.processes[0].cupti_opened);
    EXPECT_THAT(summary.processes[0].error_text, HasSubstr("/absent/libcupti.so"));
    EXPECT_TRUE(summary.driver_initialised);
}

TEST_F(Tracer, LaunchesWithoutRecordsAreCounted) {
    EXPECT_EQ(launch({"--frames", "5", "--kernels", "4"}, {{"FAKE_CUDA_NO_RECORDS", "1"}}).code, 0);
    const auto summary = import();
    EXPECT_EQ(summary.launches_called, 20);
    EXPECT_EQ(summary.kernels_recorded, 0);
}

TEST_F(Tracer, ZeroTimestampsAndDroppedRecordsAreCounted) {
    EXPECT_EQ(launch({"--frames", "5", "--kernels", "4"},
                     {{"FAKE_CUDA_ZERO_TIMESTAMPS", "4"}, {"FAKE_CUDA_DROPPED", "11"}})
                  .code,
              0);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 20);
    EXPECT_EQ(summary.zero_timestamps, 5);
    EXPECT_EQ(summary.dropped_records, 11);
}

TEST_F(Tracer, AHangingFlushDelaysExitByAFewSecondsAtMost) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(launch({"--frames", "5", "--kernels", "4"}, {{"FAKE_CUDA_HANG_ON_FLUSH", "1"}}).code, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    const auto summary = import();
    EXPECT_EQ(summary.launches_called, 20);
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_TRUE(summary.processes[0].flush_hangs);
    EXPECT_EQ(summary.processes[0].error_text,
              "cuptiActivityFlushAll did not return within 3 s of the program's exit.");
}

TEST_F(Tracer, ARunFolderThatIsNotThereIsNoReasonToFail) {
    EXPECT_EQ(launch({"--status", "4"}, {{"DEEPJIT_RUN_DIR", "/absent/folder"}}).code, 4);
    EXPECT_EQ(launch({"--status", "4"}, {{"DEEPJIT_RUN_DIR", ""}}).code, 4);
    EXPECT_EQ(recordings(), 0U);
}

TEST_F(Tracer, AFileSizeLimitStopsTheRecordingAndNotTheTarget) {
    Command command;
    command.arguments = {"sh", "-c",
                         "ulimit -f 2048; exec '" FAKE_CUDA_FOLDER
                         "/fake_cuda_launch' --frames 2000 --kernels 20"};
    command.environment = tracing_environment();
    command.timeout_seconds = 30;
    const auto ended = run(command);
    const auto& status = std::get<Finished>(ended).status;
    EXPECT_EQ(status.code, 0);
    EXPECT_EQ(status.signal, 0);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_EQ(summary.processes[0].write_error, system_error_text(EFBIG));
    EXPECT_EQ(summary.lost_bytes, 0);
    EXPECT_GT(summary.host_calls, 0);
}

TEST_F(Tracer, ASizeLimitStopsTheRecordingAndNotTheTarget) {
    EXPECT_EQ(launch({"--frames", "2000", "--kernels", "20", "--status", "3"},
                     {{"DEEPJIT_TRACER_MAX_BYTES", "200000"}})
                  .code,
              3);
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_))
        bytes += entry.file_size();
    EXPECT_LE(bytes, 200'000U); // one process is counted exactly
    EXPECT_GT(bytes, 100'000U);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_TRUE(summary.processes[0].reached_size_limit);
    EXPECT_GT(summary.processes[0].recorded_for_ns, 0);
    EXPECT_LT(summary.processes[0].recorded_for_ns, 30'000'000'000);
    EXPECT_EQ(summary.processes[0].write_error, "");
    EXPECT_EQ(summary.lost_bytes, 0);
    EXPECT_GT(summary.host_calls, 0);
}

TEST_F(Tracer, ASizeLimitCountsWhatElseLiesInTheRunFolder) {
    std::ofstream(folder_ / "process-1.djw.other") << std::string(250'000, 'x');
    EXPECT_EQ(launch({"--frames", "20"}, {{"DEEPJIT_TRACER_MAX_BYTES", "200000"}}).code, 0);
    const auto summary = import();
    ASSERT_EQ(summary.processes.size(), 1U);
    EXPECT_TRUE(summary.processes[0].reached_size_limit);
    EXPECT_EQ(summary.host_calls, 0);
}

TEST_F(Tracer, NothingIsWrittenIntoADescriptorThatTheTargetReuses) {
    const fs::path file = folder_ / "target.txt";
    EXPECT_EQ(launch({"--frames", "100", "--kernels", "20", "--reuse-descriptors", file.string()}).code, 0);
    EXPECT_EQ(fs::file_size(file), 0U);
    EXPECT_EQ(import().lost_bytes, 0);
}

TEST_F(Tracer, RecordingsAreForTheirOwnerAlone) {
    EXPECT_EQ(launch({"--frames", "1"}).code, 0);
    for (const auto& entry : fs::directory_iterator(folder_)) {
        struct stat status {};
        ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0600U);
    }
}

} // namespace
} // namespace deepjit::tracer
