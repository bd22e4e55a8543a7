#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace deepjit::graph {

/// ONNX multidirectional broadcasting of two shapes, or nothing where they do not fit.
std::optional<std::vector<std::int64_t>> broadcast_shape(const std::vector<std::int64_t>& a,
                                                         const std::vector<std::int64_t>& b);

/// For every element of `to` in row-major order, the row-major index of the element of `from` that it reads.
/// `from` must broadcast to `to`.
std::vector<std::int64_t> broadcast_indices(const std::vector<std::int64_t>& from,
                                            const std::vector<std::int64_t>& to);

} // namespace deepjit::graph
