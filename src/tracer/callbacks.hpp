#pragma once

#include <cupti.h>

namespace deepjit::tracer {

/// Subscribes-to function: records watched driver calls with the arguments of launches, and what graph nodes
/// hold. Runs on the target's threads, inside its driver calls.
void CUPTIAPI on_callback(void* user_data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) noexcept;

} // namespace deepjit::tracer
