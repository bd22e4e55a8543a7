#include "src/tracer/inherited_environment.hpp"

#include <cstdlib>
#include <cstring>

#include <unistd.h>

extern char** environ;

namespace deepjit::tracer {
namespace {

constexpr const char* kVariable = "DEEPJIT_TRACER_NO_CHILDREN";
constexpr const char* kWithheld[] = {"CUDA_INJECTION64_PATH=", "DEEPJIT_RUN_DIR=", "DEEPJIT_TRACER"};

/// What stands in their place. The library is never unloaded, so that the string stays valid.
char placeholder[] = "DEEPJIT_WITHHELD=1";

} // namespace

bool may_record_this_process() noexcept {
    const char* const value = std::getenv(kVariable);
    if (value == nullptr) return true;
    const long parent = std::strtol(value, nullptr, 10);
    return parent <= 1 || parent == getppid();
}

void withhold_from_children() noexcept {
    if (std::getenv(kVariable) == nullptr) return;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        for (const char* const name : kWithheld) {
            if (std::strncmp(*entry, name, std::strlen(name)) == 0)
                __atomic_store_n(entry, &placeholder[0], __ATOMIC_RELEASE);
        }
    }
}

} // namespace deepjit::tracer
