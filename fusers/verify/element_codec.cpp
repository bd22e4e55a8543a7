#include "fusers/verify/element_codec.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace deepjit::verify {

namespace {

using graph::DType;

/// `value` must be a value of float16.
std::uint16_t float16_bits(double value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double magnitude = std::fabs(value);
    if (std::isnan(value)) return 0x7e00;
    if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude < std::ldexp(1, -14)) // denormal: a multiple of 2^-24
        return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::ldexp(magnitude, 24)));
    const int exponent = std::ilogb(magnitude);
    const auto fraction = static_cast<std::uint16_t>(std::ldexp(magnitude, 10 - exponent) - 1024);
    return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | fraction);
}

double float16_value(std::uint16_t bits) {
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// `value` must be a value of bfloat16, which is the upper half of a float32.
std::uint16_t bfloat16_bits(double value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

double bfloat16_value(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T, class Convert>
std::vector<std::byte> encode_as(const graph::Values& values, DType dtype, std::size_t count,
                                 Convert convert) {
    std::vector<T> period(std::min(values.size(), count));
    for (std::size_t i = 0; i < period.size(); ++i)
        period[i] = convert(graph::round_to(dtype, values[i]));

    std::vector<std::byte> bytes(count * sizeof(T));
    if (count == 0) return bytes;
    std::size_t filled = period.size() * sizeof(T);
    std::memcpy(bytes.data(), period.data(), filled);
    while (filled < bytes.size()) { // each step doubles a whole number of periods
        const std::size_t step = std::min(filled, bytes.size() - filled);
        std::memcpy(bytes.data() + filled, bytes.data(), step);
        filled += step;
    }
    return bytes;
}

template <class T, class Convert>
graph::Values decode_as(std::span<const std::byte> bytes, Convert convert) {
    assert(bytes.size() % sizeof(T) == 0);
    graph::Values values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T element;
        std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
        values[i] = convert(element);
    }
    return values;
}

template <class T>
T cast(double value) {
    return static_cast<T>(value);
}

template <class T>
double widen(T value) {
    return static_cast<double>(value);
}

} // namespace

std::vector<std::byte> encode(const graph::Values& values, DType dtype, std::size_t count) {
    assert(!values.empty());
    switch (dtype) {
    case DType::Float32:
        return encode_as<float>(values, dtype, count, cast<float>);
    case DType::Float64:
        return encode_as<double>(values, dtype, count, cast<double>);
    case DType::Float16:
        return encode_as<std::uint16_t>(values, dtype, count, float16_bits);
    case DType::BFloat16:
        return encode_as<std::uint16_t>(values, dtype, count, bfloat16_bits);
    case DType::Int8:
        return encode_as<std::int8_t>(values, dtype, count, cast<std::int8_t>);
    case DType::Bool:
    case DType::UInt8:
        return encode_as<std::uint8_t>(values, dtype, count, cast<std::uint8_t>);
    case DType::Int32:
        return encode_as<std::int32_t>(values, dtype, count, cast<std::int32_t>);
    case DType::Int64:
        return encode_as<std::int64_t>(values, dtype, count, cast<std::int64_t>);
    }
    return {};
}

graph::Values decode(std::span<const std::byte> bytes, DType dtype) {
    switch (dtype) {
    case DType::Float32:
        return decode_as<float>(bytes, widen<float>);
    case DType::Float64:
        return decode_as<double>(bytes, widen<double>);
    case DType::Float16:
        return decode_as<std::uint16_t>(bytes, float16_value);
    case DType::BFloat16:
        return decode_as<std::uint16_t>(bytes, bfloat16_value);
    case DType::Int8:
        return decode_as<std::int8_t>(bytes, widen<std::int8_t>);
    case DType::Bool:
    case DType::UInt8:
        return decode_as<std::uint8_t>(bytes, widen<std::uint8_t>);
    case DType::Int32:
        return decode_as<std::int32_t>(bytes, widen<std::int32_t>);
    case DType::Int64:
        return decode_as<std::int64_t>(bytes, widen<std::int64_t>);
    }
    return {};
}

} // namespace deepjit::verify
