#include "src/base/subprocess.hpp"

#include "src/base/files.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

namespace deepjit {
namespace {

Command shell(const std::string& script) {
    Command command;
    command.arguments = {"/bin/sh", "-c", script};
    command.capture_output = true;
    return command;
}

Finished finished(const Command& command) {
    auto ended = run(command);
    const auto* const result = std::get_if<Finished>(&ended);
    EXPECT_NE(result, nullptr);
    return result == nullptr ? Finished{} : *result;
}

StartError not_started(const std::string& program) {
    Command command;
    command.arguments = {program};
    auto ended = run(command);
    const auto* const error = std::get_if<StartError>(&ended);
    EXPECT_NE(error, nullptr) << program;
    return error == nullptr ? StartError{} : *error;
}

TEST(Subprocess, output_and_status_come_back) {
    const Finished result = finished(shell("echo out; echo err >&2; exit 7"));
    EXPECT_EQ(result.standard_output, "out\n");
    EXPECT_EQ(result.standard_error, "err\n");
    EXPECT_EQ(result.status.code, 7);
    EXPECT_EQ(result.status.as_shell_code(), 7);
}

TEST(Subprocess, more_than_a_pipe_holds_is_collected_from_both) {
    const Finished result = finished(shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"));
    EXPECT_EQ(result.standard_output.size(), 300000u);
    EXPECT_EQ(result.standard_error.size(), 300000u);
}

TEST(Subprocess, a_signal_is_told_apart_from_a_status) {
    const Finished result = finished(shell("kill -SEGV $$"));
    EXPECT_EQ(result.status.signal, SIGSEGV);
    EXPECT_EQ(result.status.as_shell_code(), 128 + SIGSEGV);
}

TEST(Subprocess, variables_are_set_replaced_and_removed) {
    ::setenv("DEEPJIT_TEST_OLD", "old", 1);
    ::setenv("DEEPJIT_TEST_GONE", "gone", 1);
    Command command = shell("echo \"$DEEPJIT_TEST_OLD ${DEEPJIT_TEST_GONE-unset} $DEEPJIT_TEST_NEW\"");
    command.environment = {
        {"DEEPJIT_TEST_OLD", "new"}, {"DEEPJIT_TEST_GONE", ""}, {"DEEPJIT_TEST_NEW", "a=b"}};
    EXPECT_EQ(finished(command).standard_output, "new unset a=b\n");
}

TEST(Subprocess, a_program_that_outlives_its_time_is_killed) {
    Command command = shell("sleep 60");
    command.timeout_seconds = 0.2;
    const auto begin = std::chrono::steady_clock::now();
    const Finished result = finished(command);
    EXPECT_TRUE(result.timed_out);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Subprocess, a_missing_program_and_one_that_is_none_are_told_apart) {
    EXPECT_EQ(not_started("deepjit-no-such-program").reason, StartFailure::NotFound);
    auto folder = make_temporary_directory("deepjit-subprocess-test");
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_file_atomically(*folder / "text", "hello"));
    const StartError error = not_started((*folder / "text").string());
    EXPECT_EQ(error.reason, StartFailure::NotExecutable);
    EXPECT_FALSE(error.diagnostic.hint.empty());
    std::filesystem::remove_all(*folder);
}

TEST(Subprocess, a_script_whose_interpreter_is_missing_names_it) {
    auto folder = make_temporary_directory("deepjit-subprocess-test");
    ASSERT_TRUE(folder);
    const auto script = [&](const char* name, const std::string& text) {
        const auto path = *folder / name;
        EXPECT_TRUE(write_file_atomically(path, text));
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path.string();
    };
    const StartError direct = not_started(script("direct", "#! /no/such/python -u\nprint()\n"));
    EXPECT_EQ(direct.reason, StartFailure::NotExecutable);
    EXPECT_NE(direct.diagnostic.message.find("interpreter '/no/such/python' of"), std::string::npos);
    const StartError nested = not_started(script("nested", "#!" + (*folder / "direct").string() + "\n"));
    EXPECT_EQ(nested.reason, StartFailure::NotExecutable);
    EXPECT_NE(nested.diagnostic.message.find("'/no/such/python'"), std::string::npos);
    const StartError windows = not_started(script("windows", "#!/bin/sh\r\necho\r\n"));
    EXPECT_NE(windows.diagnostic.hint.find("dos2unix"), std::string::npos);

    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (folder->string() + ":" + path).c_str(), 1);
    const StartError found_in_path = not_started("direct");
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(found_in_path.reason, StartFailure::NotExecutable);
    EXPECT_NE(found_in_path.diagnostic.message.find("'/no/such/python'"), std::string::npos);
    std::filesystem::remove_all(*folder);
}

TEST(Subprocess, a_signal_sent_to_this_process_reaches_the_child) {
    std::thread sender([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ::kill(::getpid(), SIGTERM);
    });
    Command command;
    command.arguments = {"/bin/sh", "-c", "trap 'exit 9' TERM; while :; do sleep 0.05; done"};
    command.timeout_seconds = 30;
    const Finished result = finished(command);
    sender.join();
    EXPECT_EQ(result.status.code, 9);
    EXPECT_FALSE(result.timed_out);
}

} // namespace
} // namespace deepjit
