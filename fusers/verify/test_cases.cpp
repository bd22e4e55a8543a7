#include "fusers/verify/test_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace deepjit::verify {

namespace {

using graph::ChainGraph;
using graph::DType;
using graph::Tensor;
using graph::Values;

constexpr std::size_t kLongPeriod = 100'003; // prime
constexpr std::uint64_t kSeed = 0x6465'6570'6a69'7400;

/// Box–Muller on a 64-bit Mersenne twister: std::normal_distribution differs between standard libraries.
class NormalSource {
  public:
    explicit NormalSource(std::uint64_t seed) : engine_(seed) {}

    double next() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * 3.14159265358979323846 * uniform());
    }
    /// In (0, 1].
    double uniform() { return (static_cast<double>(engine_() >> 11) + 1) / 9007199254740992.0; }
    std::uint64_t bits() { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

struct FloatLimits {
    double largest;
    double smallest_normal;
    double smallest_denormal;
};

FloatLimits limits_of(DType dtype) {
    switch (dtype) {
    case DType::Float16:
        return {65504.0, std::ldexp(1, -14), std::ldexp(1, -24)};
    case DType::BFloat16:
        return {std::ldexp(255, 120), std::ldexp(1, -126), std::ldexp(1, -133)};
    case DType::Float64:
        return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                std::numeric_limits<double>::denorm_min()};
    default:
        return {static_cast<double>(std::numeric_limits<float>::max()),
                static_cast<double>(std::numeric_limits<float>::min()),
                static_cast<double>(std::numeric_limits<float>::denorm_min())};
    }
}

/// Values at which floating arithmetic has seams: zeros, denormals, limits, non-numbers, ties.
Values special_values(DType dtype) {
    if (!graph::is_floating(dtype)) {
        Values values = {0, 1, 2, 7};
        if (dtype == DType::Bool) return {0, 1};
        if (dtype == DType::UInt8) return {0, 1, 127, 128, 254, 255};
        if (dtype == DType::Int8) return {-128, -127, -1, 0, 1, 126, 127};
        values.insert(values.end(), {-1, -7, 2147483647.0, -2147483648.0});
        return values;
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const FloatLimits limits = limits_of(dtype);
    const double epsilon = graph::epsilon_of(dtype);
    return {0.0,
            -0.0,
            limits.smallest_denormal,
            -limits.smallest_denormal,
            limits.smallest_normal,
            -limits.smallest_normal * (1 - epsilon),
            limits.largest,
            -limits.largest,
            infinity,
            -infinity,
            std::numeric_limits<double>::quiet_NaN(),
            1.0,
            -1.0,
            1 + epsilon, // 1 and this one: sums of them with half an epsilon are ties
            epsilon / 2, // a tie against 1
            -epsilon / 4,
            0.5,
            3.0};
}

double random_value(NormalSource& source, DType dtype) {
    switch (dtype) {
    case DType::Bool:
        return static_cast<double>(source.bits() & 1);
    case DType::UInt8:
        return static_cast<double>(source.bits() & 255);
    case DType::Int8:
        return static_cast<double>(source.bits() & 255) - 128;
    case DType::Int32:
    case DType::Int64:
        return static_cast<double>(source.bits() % 2001) - 1000;
    default:
        return graph::round_to(dtype, source.next());
    }
}

std::size_t length_of(const Tensor& tensor, std::size_t period) {
    return tensor.element_count() == 1 ? 1 : period;
}

template <class Make>
TestCase make_case(const ChainGraph& chain, std::string name, std::size_t period, Make make) {
    TestCase test_case;
    test_case.name = std::move(name);
    test_case.period = period;
    test_case.shift_elements.assign(chain.inputs.size() + chain.outputs.size(), 0);
    for (std::size_t input = 0; input < chain.inputs.size(); ++input) {
        const Tensor& tensor = chain.tensor(chain.inputs[input]);
        NormalSource source(kSeed + input);
        Values values(length_of(tensor, period));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = graph::round_to(tensor.dtype, make(source, tensor.dtype, input, i));
        test_case.inputs.push_back(std::move(values));
    }
    return test_case;
}

TestCase random_case(const ChainGraph& chain) {
    return make_case(chain, "random", kLongPeriod,
                     [](NormalSource& source, DType dtype, std::size_t, std::size_t) {
                         return random_value(source, dtype);
                     });
}

/// Every value of the first input meets every value of the second; further inputs run through theirs at
/// strides of their own, so that combinations of three and more vary too.
TestCase specials_case(const ChainGraph& chain) {
    std::size_t period = 1;
    for (std::size_t input = 0; input < std::min<std::size_t>(chain.inputs.size(), 3); ++input)
        period *= special_values(chain.tensor(chain.inputs[input]).dtype).size();
    period = std::max<std::size_t>(period, 64) | 1;
    std::size_t stride = 1;
    std::vector<std::size_t> strides;
    for (const graph::TensorIndex input : chain.inputs) {
        strides.push_back(stride);
        stride = strides.size() < 3 ? stride * special_values(chain.tensor(input).dtype).size()
                                    : 7 * strides.size();
    }
    return make_case(chain, "specials", period,
                     [&](NormalSource&, DType dtype, std::size_t input, std::size_t i) {
                         const Values values = special_values(dtype);
                         return values[i / strides[input] % values.size()];
                     });
}

/// A large common offset with small differences: what sums cancel on.
TestCase large_offsets_case(const ChainGraph& chain) {
    return make_case(chain, "large offsets", kLongPeriod,
                     [](NormalSource& source, DType dtype, std::size_t input, std::size_t) {
                         if (!graph::is_floating(dtype)) return random_value(source, dtype);
                         const double offset = dtype == DType::Float16 ? 1000 : 100'000;
                         return (input % 2 == 0 ? offset : -offset) + source.next();
                     });
}

/// Equal values in every input, in pairs of opposite sign: comparisons tie and sums vanish.
TestCase ties_case(const ChainGraph& chain) {
    return make_case(chain, "ties", 10'007, [](NormalSource&, DType dtype, std::size_t input, std::size_t i) {
        const double magnitude = static_cast<double>(i / 4 % 97) * 0.25;
        const bool negative = graph::is_floating(dtype) && ((i >> (input % 2)) & 1) != 0;
        return negative ? -magnitude : magnitude;
    });
}

/// Magnitudes from the smallest denormal up to where products of two stay denormal.
TestCase tiny_case(const ChainGraph& chain) {
    return make_case(chain, "denormals", 10'007,
                     [](NormalSource& source, DType dtype, std::size_t, std::size_t) {
                         if (!graph::is_floating(dtype)) return random_value(source, dtype);
                         return source.next() * limits_of(dtype).smallest_normal;
                     });
}

} // namespace

std::vector<TestCase> test_cases(const ChainGraph& chain) {
    std::vector<TestCase> cases = {random_case(chain), specials_case(chain), large_offsets_case(chain),
                                   ties_case(chain), tiny_case(chain)};
    TestCase all_shifted = cases.front();
    all_shifted.name = "random, every base shifted by one element";
    std::fill(all_shifted.shift_elements.begin(), all_shifted.shift_elements.end(), 1);
    TestCase last_shifted = cases.front();
    last_shifted.name = "random, the last base shifted by one element";
    last_shifted.shift_elements.back() = 1;
    cases.push_back(std::move(all_shifted));
    cases.push_back(std::move(last_shifted));
    return cases;
}

Result<std::vector<Expected>> expected_for(const ChainGraph& chain, const TestCase& test_case) {
    const ChainGraph one_period = with_element_count(chain, static_cast<std::int64_t>(test_case.period));
    DEEPJIT_TRY(auto exact, interpret(one_period, test_case.inputs, graph::Arithmetic::Float64));
    DEEPJIT_TRY(auto rounded, interpret(one_period, test_case.inputs, graph::Arithmetic::Rounded));
    std::vector<Expected> expected(chain.outputs.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] = {std::move(exact[i]), std::move(rounded[i])};
    return expected;
}

ChainGraph with_element_count(const ChainGraph& chain, std::int64_t element_count) {
    ChainGraph resized = chain;
    for (Tensor& tensor : resized.tensors) {
        if (tensor.element_count() == 1) continue;
        tensor.shape = {element_count};
        tensor.strides.clear();
    }
    return resized;
}

Result<std::int64_t> elementwise_count(const ChainGraph& chain) {
    std::int64_t count = 1;
    for (const Tensor& tensor : chain.tensors)
        count = std::max(count, tensor.element_count());
    for (const Tensor& tensor : chain.tensors) {
        if (tensor.element_count() == 1 || tensor.element_count() == count) continue;
        return failure(fmt::format("'{}' has {} elements and the chain's largest tensor {}", tensor.name,
                                   tensor.element_count(), count),
                       {}, "verification covers chains whose tensors have one size, or a single element");
    }
    return count;
}

} // namespace deepjit::verify
