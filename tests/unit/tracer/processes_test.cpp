#include "tests/unit/tracer/traced_program.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

/// Processes that the program starts.
class Children : public Tracer {
  protected:
    /// As profile gives them with --no-children.
    Environment without_children() {
        return {{"DEEPJIT_TRACER_NO_CHILDREN", std::to_string(getpid())},
                {"NVTX_INJECTION64_PATH", TRACER_LIBRARY}};
    }
};

TEST_F(Children, OfALauncherAreEachRecorded) {
    EXPECT_EQ(launch({"--launcher", "--children", "4", "--frames", "10", "--kernels", "5"}).code, 0);
    EXPECT_EQ(recordings(), 4U);
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 200);
    ASSERT_EQ(summary.processes.size(), 4U);
    for (const ingest::ProcessSummary& process : summary.processes) {
        EXPECT_EQ(process.kernels_recorded, 50);
        EXPECT_TRUE(process.ended);
    }
    const auto processes = *trace().processes();
    for (const trace::Process& process : processes)
        EXPECT_EQ(process.parent_process_id, processes[0].parent_process_id);
}

TEST_F(Children, OfAProgramThatUsesCudaAreRecordedBesideIt) {
    EXPECT_EQ(launch({"--children", "2", "--frames", "10", "--kernels", "5"}).code, 0);
    EXPECT_EQ(recordings(), 3U);
    EXPECT_EQ(import().kernels_recorded, 150);
}

TEST_F(Children, AreLeftOutOnRequestAlthoughTheyUseCuda) {
    EXPECT_EQ(
        launch({"--children", "2", "--frames", "10", "--kernels", "5", "--range", "step"}, without_children())
            .code,
        0);
    EXPECT_EQ(recordings(), 1U);
    EXPECT_EQ(import().kernels_recorded, 50);
}

TEST_F(Children, OfALauncherAreLeftOutOnRequestAlthoughItUsesNoCuda) {
    EXPECT_EQ(
        launch({"--launcher", "--children", "2", "--frames", "10", "--range", "step"}, without_children())
            .code,
        0);
    EXPECT_EQ(recordings(), 0U);
}

TEST_F(Children, FindNeitherInjectionNorRunFolderInTheirEnvironment) {
    const fs::path file = folder_ / "environment.txt";
    Command command;
    command.arguments = {FAKE_CUDA_FOLDER "/fake_cuda_launch", "--frames", "1", "--environment-to",
                         file.string()};
    command.environment = tracing_environment();
    command.environment.emplace_back("DEEPJIT_TRACER_NO_CHILDREN", "1");
    command.environment.emplace_back("UNRELATED", "kept");
    const auto ended = run(command);
    EXPECT_EQ(std::get<Finished>(ended).status.code, 0);
    bool unrelated = false;
    for (const std::string& line : lines_of(file)) {
        EXPECT_FALSE(line.starts_with("CUDA_INJECTION64_PATH") || line.starts_with("DEEPJIT_RUN_DIR") ||
                     line.starts_with("DEEPJIT_TRACER"))
            << line;
        unrelated = unrelated || line == "UNRELATED=kept";
    }
    EXPECT_TRUE(unrelated);
}

TEST_F(Children, ThatOutliveTheProgramHoldTheLockOnTheirRecording) {
    Command command; // with no pipe that the child would keep open
    command.arguments = {FAKE_CUDA_FOLDER "/fake_cuda_launch",
                         "--launcher",
                         "--leave-children",
                         "--children",
                         "1",
                         "--frames",
                         "100",
                         "--kernels",
                         "2",
                         "--frame-pause-us",
                         "10000"};
    command.environment = tracing_environment();
    const auto ended = run(command);
    EXPECT_EQ(std::get<Finished>(ended).status.code, 0);
    const auto locked = [&] {
        for (const auto& entry : fs::directory_iterator(folder_)) {
            if (entry.path().extension() != ".djw") continue;
            const int file = ::open(entry.path().c_str(), O_RDONLY);
            struct flock lock {};
            lock.l_type = F_RDLCK;
            lock.l_whence = SEEK_SET;
            lock.l_len = 1;
            EXPECT_EQ(::fcntl(file, F_GETLK, &lock), 0);
            ::close(file);
            if (lock.l_type != F_UNLCK) return true;
        }
        return false;
    };
    const auto wait_until = [](const auto& condition) {
        for (int i = 0; i < 1'000 && !condition(); ++i)
            usleep(10'000);
        return condition();
    };
    EXPECT_TRUE(wait_until(locked));
    EXPECT_TRUE(wait_until([&] { return !locked(); }));
    const auto summary = import();
    EXPECT_EQ(summary.kernels_recorded, 200);
    EXPECT_TRUE(summary.processes.at(0).ended);
}

} // namespace
} // namespace deepjit::tracer
