#pragma once

#include "src/base/result.hpp"
#include "src/gpu/context.hpp"
#include "src/graph/chain_graph.hpp"
#include "src/graph/interpreter.hpp"

#include <cstddef>

namespace deepjit::verify {

/// Fills `tensor`, which lies `offset` bytes into `buffer`, with `values` repeated as often as needed. Works
/// in pieces, so that a tensor of any size takes little host memory.
Result<void> upload_repeated(gpu::DeviceBuffer& buffer, std::size_t offset, const graph::Tensor& tensor,
                             const graph::Values& values);

} // namespace deepjit::verify
