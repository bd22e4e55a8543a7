#pragma once

#include <filesystem>

namespace deepjit::cli {

/// While it lives, processes that the program leaves behind become children of this one when their parents
/// end, so that it can wait for them.
class Descendants {
  public:
    Descendants();
    ~Descendants();
    Descendants(const Descendants&) = delete;
    Descendants& operator=(const Descendants&) = delete;

    /// Until all of them have ended and no process writes into the run folder any more. False where a signal
    /// came first (SignalGuard), and some still run.
    bool wait_for_all(const std::filesystem::path& run_folder);
};

} // namespace deepjit::cli
