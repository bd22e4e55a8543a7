#pragma once

#include <cstdlib>

namespace fake_cuda {

/// The number in an environment variable, or `fallback`.
inline long number_from_environment(const char* variable, long fallback) {
    const char* const text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::strtol(text, nullptr, 10) : fallback;
}

} // namespace fake_cuda
