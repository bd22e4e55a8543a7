#pragma once

#include "src/base/files.hpp"
#include "src/base/subprocess.hpp"
#include "src/ingest/import_wire.hpp"
#include "src/trace/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace deepjit::tracer {

namespace fs = std::filesystem;

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs programs of tests/fake_cuda with the real tracer and imports what it wrote.
class Tracer : public testing::Test {
  protected:
    void SetUp() override { folder_ = *make_temporary_directory("deepjit-test-tracer"); }
    void TearDown() override { fs::remove_all(folder_); }

    Environment tracing_environment() const {
        return {{"LD_LIBRARY_PATH", FAKE_CUDA_FOLDER},
                {"DEEPJIT_CUPTI_LIBRARY", FAKE_CUDA_FOLDER "/libcupti.so.13"},
                {"CUDA_INJECTION64_PATH", TRACER_LIBRARY},
                {"NVTX_INJECTION64_PATH", TRACER_LIBRARY},
                {"DEEPJIT_RUN_DIR", folder_.string()}};
    }

    Finished run_program(const std::string& program, std::vector<std::string> options,
                         Environment extra = {}) {
        Command command;
        command.arguments = {std::string(FAKE_CUDA_FOLDER) + "/" + program};
        command.arguments.insert(command.arguments.end(), options.begin(), options.end());
        command.environment = tracing_environment();
        for (auto& [name, value] : extra) {
            std::erase_if(command.environment, [&](const auto& variable) { return variable.first == name; });
            command.environment.emplace_back(name, value);
        }
        command.capture_output = true;
        command.timeout_seconds = 30;
        auto ended = run(command);
        if (!std::holds_alternative<Finished>(ended)) {
            ADD_FAILURE() << std::get<StartError>(ended).diagnostic.message;
            return {};
        }
        const Finished finished = std::get<Finished>(ended);
        EXPECT_FALSE(finished.timed_out);
        EXPECT_EQ(finished.standard_output, "");
        EXPECT_EQ(finished.standard_error, "");
        return finished;
    }
    ExitStatus launch(std::vector<std::string> options, Environment extra = {}) {
        return run_program("fake_cuda_launch", std::move(options), std::move(extra)).status;
    }

    ingest::ImportSummary import() {
        auto summary = ingest::import_run_folder(folder_, folder_ / "trace.db", {});
        if (!summary) ADD_FAILURE() << summary.error().message;
        return std::move(summary).value_or({});
    }
    trace::Trace trace() { return *trace::Trace::open(folder_ / "trace.db"); }

    /// The argument bytes of each kernel in the order of their launches, in hex; "-" where none were saved.
    std::vector<std::string> arguments_of_kernels() {
        auto opened = trace();
        auto kernels = *opened.kernels();
        std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
            return std::pair(a.correlation_id, a.start_ns) < std::pair(b.correlation_id, b.start_ns);
        });
        std::vector<std::string> all;
        for (const trace::Kernel& kernel : kernels) {
            if (kernel.arguments_id == 0) {
                all.emplace_back("-");
                continue;
            }
            std::string hex;
            const trace::Arguments arguments = *opened.arguments(kernel.arguments_id);
            for (const char byte : arguments.bytes) {
                static constexpr const char* digits = "0123456789abcdef";
                hex += digits[static_cast<unsigned char>(byte) >> 4U];
                hex += digits[static_cast<unsigned char>(byte) & 15U];
            }
            all.push_back(hex);
        }
        return all;
    }
    std::vector<std::string> lines_of(const fs::path& path) {
        std::ifstream file(path);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);)
            lines.push_back(line);
        return lines;
    }
    std::size_t recordings() {
        return static_cast<std::size_t>(
            std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(),
                          [](const auto& entry) { return entry.path().extension() == ".djw"; }));
    }

    fs::path folder_;
};

} // namespace deepjit::tracer
