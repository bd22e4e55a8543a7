#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

#include <atomic>

/// The driver calls this once, from cuInit, in the library that $CUDA_INJECTION64_PATH names. Whatever
/// happens here, the target goes on: 1 is "success".
extern "C" __attribute__((visibility("default"))) int InitializeInjection() noexcept {
    static std::atomic_flag started;
    if (!started.test_and_set()) deepjit::tracer::session().start_cuda();
    return 1;
}

namespace {

/// Calls made after the exit handlers ran, by destructors of the target's globals.
__attribute__((destructor)) void write_what_is_left() noexcept {
    deepjit::tracer::recording().flush();
}

} // namespace
