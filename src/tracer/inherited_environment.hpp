#pragma once

namespace deepjit::tracer {

// $DEEPJIT_TRACER_NO_CHILDREN: only the program itself is recorded, not what it starts. The value is the
// process id of the deepjit that started it, or 1 where none did.

/// False in a process that is a child of the program. Where no deepjit started it that cannot be told, and
/// only withhold_from_children() keeps children out.
bool may_record_this_process() noexcept;

/// Takes CUDA's injection variable and the tracer's own out of this process's environment, where they are not
/// wanted for its children. NVTX_INJECTION64_PATH stays: each copy of NVTX in this process reads it at its
/// first call; in a child it loads a tracer that finds no run folder and records nothing.
///
/// Not by unsetenv(), which moves the other entries while other threads may be reading them: each entry is
/// replaced by another in one store.
void withhold_from_children() noexcept;

} // namespace deepjit::tracer
