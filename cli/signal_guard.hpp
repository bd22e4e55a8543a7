#pragma once

#include <array>
#include <csignal>

namespace deepjit::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end this process, so that what a program recorded
/// becomes a trace although the signal that ended the program arrives here too (timeout(1) sends it twice).
/// Programs started meanwhile get the usual dispositions.
class SignalGuard {
  public:
    SignalGuard();
    ~SignalGuard();
    /// Signals that were kept from ending this process so far.
    static int signals_seen();
    SignalGuard(const SignalGuard&) = delete;
    SignalGuard& operator=(const SignalGuard&) = delete;

  private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> previous_{};
};

} // namespace deepjit::cli
