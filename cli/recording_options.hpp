#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace deepjit::cli {

/// Environment variables, name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// The driver loads the library that this variable names into every process that initialises CUDA.
inline constexpr const char* kInjectionVariable = "CUDA_INJECTION64_PATH";
/// NVTX loads it into every process that makes an NVTX call.
inline constexpr const char* kNvtxInjectionVariable = "NVTX_INJECTION64_PATH";

/// What `profile` and `env` let a person say about the recording, and how the tracer is told.
class RecordingOptions {
  public:
    void add_to(CLI::App& app);

    /// Who starts the program: this process, whose id the program can tell its parent's from, or somebody.
    enum class StartedBy { ThisProcess, Somebody };

    /// What the program's environment must hold so that `tracer` records into `run_folder`; both absolute. A
    /// usage error names the option whose value cannot be.
    Result<Variables> variables(const std::filesystem::path& tracer, const std::filesystem::path& run_folder,
                                StartedBy starter) const;

    /// For the second run of the same processes, which measures memory traffic. All of it, whatever the
    /// window: figures are told apart by the order of the kernels alone, and are joined to those that were
    /// timed.
    Variables variables_for_counters(const std::filesystem::path& tracer,
                                     const std::filesystem::path& run_folder) const;

  private:
    void add_processes(Variables& variables, StartedBy starter) const;
    Result<void> add_window(Variables& variables) const;

    bool graph_level_ = false;
    bool no_modules_ = false;
    bool include_children_ = false;
    bool no_children_ = false;
    std::string skip_;
    std::string frames_;
    std::string delay_;
    std::string duration_;
    std::string range_;
    bool profiler_api_ = false;
    std::string max_size_ = "4GiB";
};

} // namespace deepjit::cli
