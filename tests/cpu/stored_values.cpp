#include "tests/cpu/stored_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace deepjit::testing {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr unsigned char kGuard = 0xA5;

/// Exact for values of the dtype.
std::uint32_t bits_of(graph::DType dtype, double value) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t word = 0;
    std::memcpy(&word, &narrow, sizeof(word));
    if (dtype == graph::DType::Float32) return word;
    if (dtype == graph::DType::BFloat16) return word >> 16;
    const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return 0x7e00;
    if (std::isinf(value)) return sign | 0x7c00;
    const double magnitude = std::abs(value);
    if (magnitude < std::ldexp(1.0, -14)) return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
    const int exponent = std::ilogb(magnitude);
    const auto fraction = static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) - 1024;
    return sign | static_cast<std::uint32_t>(exponent + 15) << 10 | fraction;
}

double value_of(graph::DType dtype, std::uint32_t bits) {
    if (dtype != graph::DType::Float16) {
        const std::uint32_t word = dtype == graph::DType::BFloat16 ? bits << 16 : bits;
        float value = 0;
        std::memcpy(&value, &word, sizeof(value));
        return value;
    }
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const double fraction = bits & 0x3ff;
    if (exponent == 31)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024 + fraction, exponent - 25);
}

} // namespace

StoredValues::StoredValues(graph::DType dtype, std::size_t count, std::size_t shift_elements)
    : dtype_(dtype), count_(count),
      bytes_(2 * kGuardBytes + (count + shift_elements) * graph::size_bytes(dtype) + 16, kGuard) {
    const auto base = reinterpret_cast<std::uintptr_t>(bytes_.data()) + kGuardBytes;
    const std::size_t to_border = (16 - base % 16) % 16;
    first_byte_ = kGuardBytes + to_border + shift_elements * graph::size_bytes(dtype);
}

void StoredValues::write(const graph::Values& values) {
    const std::size_t size = graph::size_bytes(dtype_);
    for (std::size_t i = 0; i < count_; ++i) {
        const std::uint32_t bits = bits_of(dtype_, values[i]);
        std::memcpy(bytes_.data() + first_byte_ + i * size, &bits, size);
    }
}

graph::Values StoredValues::read() const {
    const std::size_t size = graph::size_bytes(dtype_);
    graph::Values values(count_);
    for (std::size_t i = 0; i < count_; ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, bytes_.data() + first_byte_ + i * size, size);
        values[i] = value_of(dtype_, bits);
    }
    return values;
}

bool StoredValues::guards_are_whole() const {
    const std::size_t end = first_byte_ + count_ * graph::size_bytes(dtype_);
    const auto is_guard = [](unsigned char byte) { return byte == kGuard; };
    return std::all_of(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(first_byte_), is_guard) &&
           std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(end), bytes_.end(), is_guard);
}

graph::Values random_values(graph::DType dtype, std::size_t count, std::mt19937_64& random) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::array kAdversarial{0.0,        -0.0,
                                      1e-40,      -1e-40,
                                      6e-8,       kInfinity,
                                      -kInfinity, 65504.0,
                                      -65504.0,   3.4e38,
                                      -3.4e38,    0.5,
                                      1.5,        2.5,
                                      -0.5,       1.0,
                                      -1.0,       88.8,
                                      -88.8,      1e-20,
                                      100000.0,   std::numeric_limits<double>::quiet_NaN()};
    std::normal_distribution<double> normal;
    graph::Values values(count);
    for (double& value : values) {
        const auto choice = random();
        value = choice % 8 == 0 ? kAdversarial[choice / 8 % kAdversarial.size()]
                                : normal(random) * (choice % 16 == 1 ? 30.0 : 2.0);
        value = graph::round_to(dtype, value);
    }
    return values;
}

} // namespace deepjit::testing
