#pragma once

#include "src/graph/dtype.hpp"
#include "src/graph/interpreter.hpp"

#include <cstddef>
#include <span>
#include <vector>

/// Values as the bytes that a GPU kernel reads and writes, and back.
namespace deepjit::verify {

/// `count` elements of `dtype`, little-endian; `values` are repeated as often as needed and rounded to the
/// dtype.
std::vector<std::byte> encode(const graph::Values& values, graph::DType dtype, std::size_t count);

/// `bytes.size()` must be a multiple of the dtype's size.
graph::Values decode(std::span<const std::byte> bytes, graph::DType dtype);

} // namespace deepjit::verify
