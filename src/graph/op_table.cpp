#include "src/graph/op_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deepjit::graph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;

/// NaN if either is NaN, as in PyTorch; -0 is less than +0.
double maximum(double a, double b) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
}

double minimum(double a, double b) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
}

double relu(double x) {
    return x <= 0 ? 0.0 : x;
}

double gelu(double x, bool tanh_form) {
    if (tanh_form) return 0.5 * x * (1 + std::tanh(kSqrtTwoOverPi * (x + 0.044715 * x * x * x)));
    return 0.5 * x * (1 + std::erf(x * kSqrtHalf));
}

// Parameters of every `evaluate`; unnamed in the lambdas below to keep an entry to a line.
using In = const double*;
using At = const double*;
constexpr auto kArithmetic = Signature::Arithmetic;
constexpr auto kComparison = Signature::Comparison;
constexpr auto kLogic = Signature::Logic;

std::vector<OpDefinition> make_table() {
    return {
        {"Abs", 1, {}, kArithmetic, [](In x, At) { return std::abs(x[0]); }},
        {"Add", 2, {}, kArithmetic, [](In x, At) { return x[0] + x[1]; }},
        {"And", 2, {}, kLogic, [](In x, At) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }},
        {"Ceil", 1, {}, kArithmetic, [](In x, At) { return std::ceil(x[0]); }},
        {"Clip",
         1,
         {{"min", -kInfinity}, {"max", kInfinity}},
         kArithmetic,
         [](In x, At a) { return std::isnan(x[0]) ? x[0] : minimum(maximum(x[0], a[0]), a[1]); }},
        {"Cos", 1, {}, kArithmetic, [](In x, At) { return std::cos(x[0]); }},
        {"Div", 2, {}, kArithmetic, [](In x, At) { return x[0] / x[1]; }},
        {"Elu",
         1,
         {{"alpha", 1.0}},
         kArithmetic,
         [](In x, At a) { return x[0] <= 0 ? a[0] * std::expm1(x[0]) : x[0]; }},
        {"Equal", 2, {}, kComparison, [](In x, At) { return x[0] == x[1] ? 1.0 : 0.0; }},
        {"Erf", 1, {}, kArithmetic, [](In x, At) { return std::erf(x[0]); }},
        {"Exp", 1, {}, kArithmetic, [](In x, At) { return std::exp(x[0]); }},
        {"Floor", 1, {}, kArithmetic, [](In x, At) { return std::floor(x[0]); }},
        // ONNX's `approximate` is a string; here 1 stands for "tanh" and 0 for "none".
        {"Gelu", 1, {{"approximate_tanh", 0}}, kArithmetic, [](In x, At a) { return gelu(x[0], a[0] != 0); }},
        {"Greater", 2, {}, kComparison, [](In x, At) { return x[0] > x[1] ? 1.0 : 0.0; }},
        {"GreaterOrEqual", 2, {}, kComparison, [](In x, At) { return x[0] >= x[1] ? 1.0 : 0.0; }},
        {"LeakyRelu",
         1,
         {{"alpha", 0.01}},
         kArithmetic,
         [](In x, At a) { return x[0] > 0 ? x[0] : x[0] * a[0]; }},
        {"Less", 2, {}, kComparison, [](In x, At) { return x[0] < x[1] ? 1.0 : 0.0; }},
        {"LessOrEqual", 2, {}, kComparison, [](In x, At) { return x[0] <= x[1] ? 1.0 : 0.0; }},
        {"Log", 1, {}, kArithmetic, [](In x, At) { return std::log(x[0]); }},
        {"Max", 2, {}, kArithmetic, [](In x, At) { return maximum(x[0], x[1]); }},
        {"Min", 2, {}, kArithmetic, [](In x, At) { return minimum(x[0], x[1]); }},
        {"Mul", 2, {}, kArithmetic, [](In x, At) { return x[0] * x[1]; }},
        {"Neg", 1, {}, kArithmetic, [](In x, At) { return -x[0]; }},
        {"Not", 1, {}, kLogic, [](In x, At) { return x[0] == 0 ? 1.0 : 0.0; }},
        {"Or", 2, {}, kLogic, [](In x, At) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }},
        {"Pow", 2, {}, kArithmetic, [](In x, At) { return std::pow(x[0], x[1]); }},
        {"Reciprocal", 1, {}, kArithmetic, [](In x, At) { return 1 / x[0]; }},
        {"Relu", 1, {}, kArithmetic, [](In x, At) { return relu(x[0]); }},
        {"Round", 1, {}, kArithmetic, [](In x, At) { return std::nearbyint(x[0]); }},
        {"Sigmoid", 1, {}, kArithmetic, [](In x, At) { return 1 / (1 + std::exp(-x[0])); }},
        {"Sin", 1, {}, kArithmetic, [](In x, At) { return std::sin(x[0]); }},
        {"Sqrt", 1, {}, kArithmetic, [](In x, At) { return std::sqrt(x[0]); }},
        {"Sub", 2, {}, kArithmetic, [](In x, At) { return x[0] - x[1]; }},
        // Opset 24: x * sigmoid(alpha * x); PyTorch's silu. The quotient keeps its value at x = -inf: NaN.
        {"Swish",
         1,
         {{"alpha", 1.0}},
         kArithmetic,
         [](In x, At a) { return x[0] / (1 + std::exp(-a[0] * x[0])); }},
        {"Tanh", 1, {}, kArithmetic, [](In x, At) { return std::tanh(x[0]); }},
        {"Where", 3, {}, Signature::Select, [](In x, At) { return x[0] != 0 ? x[1] : x[2]; }},
    };
}

} // namespace

const std::vector<OpDefinition>& op_table() {
    static const std::vector<OpDefinition> table = make_table();
    return table;
}

const OpDefinition* find_op(std::string_view type) {
    const auto& table = op_table();
    const auto found =
        std::lower_bound(table.begin(), table.end(), type,
                         [](const OpDefinition& op, std::string_view t) { return op.type < t; });
    return found != table.end() && found->type == type ? &*found : nullptr;
}

} // namespace deepjit::graph
