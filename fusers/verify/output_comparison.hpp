#pragma once

#include "fusers/verify/numeric_gate.hpp"
#include "src/graph/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// The gate's measures on the bytes that kernels stored.
namespace deepjit::verify {

/// measure_error() of stored elements. Bytes that repeat with the references' period, as correct ones do, are
/// decoded once; all are compared in any case.
OutputError measure_stored(std::span<const std::byte> stored, const Expected& expected, graph::DType dtype,
                           graph::Rounding rounding);

/// Elements in which `left` and `right`, of equal size, differ. NaNs of any payload count as equal.
std::int64_t count_different_bits(std::span<const std::byte> left, std::span<const std::byte> right,
                                  graph::DType dtype);

} // namespace deepjit::verify
