#include "src/graph/dtype.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace deepjit::graph {
namespace {

struct DTypeFacts {
    DType dtype;
    std::string_view name;
    std::size_t size_bytes;
    bool floating;
};

constexpr std::array kFacts{
    DTypeFacts{DType::Float32, "float32", 4, true},   DTypeFacts{DType::Float16, "float16", 2, true},
    DTypeFacts{DType::BFloat16, "bfloat16", 2, true}, DTypeFacts{DType::Float64, "float64", 8, true},
    DTypeFacts{DType::Int8, "int8", 1, false},        DTypeFacts{DType::UInt8, "uint8", 1, false},
    DTypeFacts{DType::Int32, "int32", 4, false},      DTypeFacts{DType::Int64, "int64", 8, false},
    DTypeFacts{DType::Bool, "bool", 1, false}};

const DTypeFacts& facts_of(DType dtype) {
    return kFacts[static_cast<std::size_t>(dtype)];
}

static_assert([] {
    for (std::size_t i = 0; i < kFacts.size(); ++i)
        if (static_cast<std::size_t>(kFacts[i].dtype) != i) return false;
    return true;
}());

/// A binary format with `precision` significant bits (the hidden one included) whose least normal number is
/// 2^(least_exponent) and whose values stay below 2^(exponent_limit).
double round_to_binary(double value, int precision, int least_exponent, int exponent_limit) {
    if (!std::isfinite(value) || value == 0) return value;
    const int exponent = std::max(std::ilogb(value), least_exponent);
    const double quantum = std::ldexp(1.0, exponent - precision + 1);
    // The default rounding direction is to nearest, ties to even; value / quantum is exact.
    const double rounded = std::nearbyint(value / quantum) * quantum;
    if (std::abs(rounded) >= std::ldexp(1.0, exponent_limit))
        return std::copysign(std::numeric_limits<double>::infinity(), value);
    return std::copysign(rounded, value);
}

template <class Integer>
double saturate(double value) {
    if (std::isnan(value)) return 0;
    constexpr auto low = static_cast<double>(std::numeric_limits<Integer>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<Integer>::max());
    return std::clamp(std::nearbyint(value), low, high);
}

} // namespace

std::size_t size_bytes(DType dtype) {
    return facts_of(dtype).size_bytes;
}

std::string_view name_of(DType dtype) {
    return facts_of(dtype).name;
}

std::optional<DType> dtype_named(std::string_view name) {
    const auto found =
        std::find_if(kFacts.begin(), kFacts.end(), [&](const auto& f) { return f.name == name; });
    if (found == kFacts.end()) return std::nullopt;
    return found->dtype;
}

bool is_floating(DType dtype) {
    return facts_of(dtype).floating;
}

double epsilon_of(DType dtype) {
    switch (dtype) {
    case DType::Float32:
        return std::ldexp(1.0, -23);
    case DType::Float16:
        return std::ldexp(1.0, -10);
    case DType::BFloat16:
        return std::ldexp(1.0, -7);
    case DType::Float64:
        return std::ldexp(1.0, -52);
    default:
        return 0;
    }
}

double round_to(DType dtype, double value) {
    switch (dtype) {
    case DType::Float32:
        return round_to_binary(value, 24, -126, 128);
    case DType::Float16:
        return round_to_binary(value, 11, -14, 16);
    case DType::BFloat16:
        return round_to_binary(value, 8, -126, 128);
    case DType::Float64:
        return value;
    case DType::Int8:
        return saturate<std::int8_t>(value);
    case DType::UInt8:
        return saturate<std::uint8_t>(value);
    case DType::Int32:
        return saturate<std::int32_t>(value);
    case DType::Int64:
        return saturate<std::int64_t>(value);
    case DType::Bool:
        return value != 0 ? 1 : 0;
    }
    return value;
}

} // namespace deepjit::graph
