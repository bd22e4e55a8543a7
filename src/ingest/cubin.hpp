#pragma once

#include "src/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::ingest {

/// Mangled names of the kernels in a cubin, in the order of its symbol table. Every offset is checked: what
/// lies outside `cubin` is an error, never a read.
Result<std::vector<std::string>> kernels_of_cubin(std::string_view cubin);

} // namespace deepjit::ingest
