#include "cli/signal_guard.hpp"

namespace deepjit::cli {
namespace {

volatile std::sig_atomic_t signal_count = 0;

extern "C" void count_signal(int) {
    signal_count = signal_count + 1;
}

} // namespace

SignalGuard::SignalGuard() {
    // A handler and not SIG_IGN, because exec() resets a handler and passes SIG_IGN on.
    struct sigaction action {};
    action.sa_handler = count_signal;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], nullptr, &previous_[i]);
        if (previous_[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
    }
}

int SignalGuard::signals_seen() {
    return signal_count;
}

SignalGuard::~SignalGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &previous_[i], nullptr);
}

} // namespace deepjit::cli
