#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Every variant that was ever tried, in SQLite; failures are kept.
namespace deepjit::verify {

struct Experiment {
    std::string chain_name;
    std::string chain_hash;
    std::string source_hash;
    std::string configuration; ///< "block 256, 2 vectors a thread, streaming stores"
    std::string architecture;  ///< "sm_90"
    std::string device_name;   ///< empty: not run on a device
    std::string outcome; ///< "chosen", "slower", "rejected", "failed to compile", "failed the gate", …
    std::string reason;  ///< why rejected; a sentence
    std::optional<int> registers_per_thread;
    std::optional<std::int64_t> local_bytes_per_thread;
    std::optional<double> error;   ///< worst over the outputs; absent when not run
    std::optional<double> time_ns; ///< fused graph, cold, median; absent when not timed
};

class ExperimentsLog {
  public:
    /// Opens or creates the log. Several processes may write to it at once.
    static Result<ExperimentsLog> open(const std::filesystem::path& path);
    ExperimentsLog(ExperimentsLog&&) noexcept;
    ExperimentsLog& operator=(ExperimentsLog&&) noexcept;
    ~ExperimentsLog();

    Result<void> add(const Experiment& experiment);
    /// All rows of a chain, oldest first.
    Result<std::vector<Experiment>> of_chain(const std::string& chain_hash) const;

  private:
    struct Impl;
    explicit ExperimentsLog(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// experiments.db in the user's cache folder.
std::filesystem::path default_experiments_path();

} // namespace deepjit::verify
