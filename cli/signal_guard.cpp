#include "cli/signal_guard.hpp"

namespace deepjit::cli {
namespace {

extern "C" void take_no_action(int) {}

} // namespace

SignalGuard::SignalGuard() {
    // A handler and not SIG_IGN, because exec() resets a handler and passes SIG_IGN on.
    struct sigaction action {};
    action.sa_handler = take_no_action;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
        sigaction(kSignals[i], nullptr, &previous_[i]);
        if (previous_[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
    }
}

SignalGuard::~SignalGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &previous_[i], nullptr);
}

} // namespace deepjit::cli
