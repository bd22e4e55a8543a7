#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace deepjit::graph {

enum class DType : std::uint8_t { Float32, Float16, BFloat16, Float64, Int8, UInt8, Int32, Int64, Bool };

std::size_t size_bytes(DType dtype);

/// "float32", "bfloat16", …: the spelling of chain.json and of numpy.
std::string_view name_of(DType dtype);
std::optional<DType> dtype_named(std::string_view name);

bool is_floating(DType dtype);

/// Distance between 1 and the next larger value of a floating type; 0 for integers.
double epsilon_of(DType dtype);

/// The nearest value of `dtype`, ties to even, overflow to infinity for floating types and saturating for
/// integers. This is what storing `value` to memory does.
double round_to(DType dtype, double value);

} // namespace deepjit::graph
