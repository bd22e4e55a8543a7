#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace deepjit::cli {

/// The contents of the file that asks the tracer to save the buffers of a chain (src/wire/capture_plan.hpp).
/// `chain_number` is as `advise` numbers the chains of the trace when kernels below `short_kernel_ns` are
/// short. Refuses a chain in a CUDA Graph, whose launches the tracer cannot stop at.
Result<std::string> capture_plan(const std::filesystem::path& trace_path, int chain_number,
                                 double short_kernel_ns, std::uint64_t limit_bytes);

} // namespace deepjit::cli
