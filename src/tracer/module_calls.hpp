#pragma once

#include "src/tracer/watched_calls.hpp"

namespace deepjit::tracer {

/// A call that loads device code has succeeded: stores its image. `raw` are the call's parameters.
void on_module_load_call(const WatchedCall& call, const void* raw) noexcept;

/// CUPTI_CBID_RESOURCE_MODULE_LOADED.
void on_module_loaded(const CUpti_ModuleResourceData& module) noexcept;

} // namespace deepjit::tracer
