#include "fusers/codegen/op_text.hpp"

#include "src/graph/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace deepjit::codegen {
namespace {

using Parts = OpTextParts;

std::string call(std::string_view function, const Parts& p) {
    std::string out = fmt::format("{}({}", function, fmt::join(p.operands, ", "));
    for (const auto& attribute : p.attributes)
        out += ", " + attribute;
    return out + ")";
}

std::string infix(const Parts& p, std::string_view symbol) {
    return fmt::format("{} {} {}", p.operands[0], symbol, p.operands[1]);
}

constexpr std::array kTexts{
    OpText{"Abs", false, false, [](const Parts& p) { return call("fabsf", p); }},
    OpText{"Add", false, true, [](const Parts& p) { return infix(p, "+"); }},
    OpText{"And", false, false, [](const Parts& p) { return infix(p, "&&"); }},
    OpText{"Ceil", false, false, [](const Parts& p) { return call("ceilf", p); }},
    OpText{"Clip", false, false, [](const Parts& p) { return call("clip", p); }},
    OpText{"Cos", false, false, [](const Parts& p) { return call("cosf", p); }},
    OpText{"Div", false, false, [](const Parts& p) { return infix(p, "/"); }},
    OpText{"Elu", false, false, [](const Parts& p) { return call("elu", p); }},
    OpText{"Equal", false, false, [](const Parts& p) { return infix(p, "=="); }},
    OpText{"Erf", false, false, [](const Parts& p) { return call("erff", p); }},
    OpText{"Exp", false, false, [](const Parts& p) { return call("expf", p); }},
    OpText{"Floor", false, false, [](const Parts& p) { return call("floorf", p); }},
    OpText{"Gelu", false, true,
           [](const Parts& p) {
               return fmt::format("{}({})", p.attribute_values[0] != 0 ? "gelu_tanh" : "gelu", p.operands[0]);
           }},
    OpText{"Greater", false, false, [](const Parts& p) { return infix(p, ">"); }},
    OpText{"GreaterOrEqual", false, false, [](const Parts& p) { return infix(p, ">="); }},
    OpText{"LeakyRelu", false, false, [](const Parts& p) { return call("leaky_relu", p); }},
    OpText{"Less", false, false, [](const Parts& p) { return infix(p, "<"); }},
    OpText{"LessOrEqual", false, false, [](const Parts& p) { return infix(p, "<="); }},
    OpText{"Log", false, false, [](const Parts& p) { return call("logf", p); }},
    OpText{"Max", false, false, [](const Parts& p) { return call("maximum", p); }},
    OpText{"Min", false, false, [](const Parts& p) { return call("minimum", p); }},
    OpText{"Mul", true, false,
           [](const Parts& p) { return p.round_product ? call("__fmul_rn", p) : infix(p, "*"); }},
    OpText{"Neg", false, false, [](const Parts& p) { return "-" + p.operands[0]; }},
    OpText{"Not", false, false, [](const Parts& p) { return "!" + p.operands[0]; }},
    OpText{"Or", false, false, [](const Parts& p) { return infix(p, "||"); }},
    OpText{"Pow", false, false, [](const Parts& p) { return call("powf", p); }},
    OpText{"Reciprocal", false, false, [](const Parts& p) { return "1.0f / " + p.operands[0]; }},
    OpText{"Relu", false, false, [](const Parts& p) { return call("relu", p); }},
    OpText{"Round", false, false, [](const Parts& p) { return call("rintf", p); }},
    OpText{"Sigmoid", false, false, [](const Parts& p) { return call("sigmoid", p); }},
    OpText{"Sin", false, false, [](const Parts& p) { return call("sinf", p); }},
    OpText{"Sqrt", false, false, [](const Parts& p) { return call("sqrtf", p); }},
    OpText{"Sub", false, true, [](const Parts& p) { return infix(p, "-"); }},
    OpText{"Swish", false, false,
           [](const Parts& p) {
               return p.attribute_values[0] == 1 ? fmt::format("silu({})", p.operands[0]) : call("swish", p);
           }},
    OpText{"Tanh", false, false, [](const Parts& p) { return call("tanhf", p); }},
    OpText{"Where", false, false, [](const Parts& p) {
               return fmt::format("{} ? {} : {}", p.operands[0], p.operands[1], p.operands[2]);
           }}};

} // namespace

const OpText* find_op_text(std::string_view type) {
    const auto* const found =
        std::find_if(kTexts.begin(), kTexts.end(), [&](const OpText& text) { return text.type == type; });
    return found == kTexts.end() ? nullptr : found;
}

void set_attributes(const graph::Op& op, OpTextParts& parts) {
    const graph::OpDefinition* definition = graph::find_op(op.type);
    if (definition == nullptr) return;
    for (const auto& [name, default_value] : definition->attributes) {
        const auto found = op.attributes.find(std::string(name));
        const double value = found == op.attributes.end() ? default_value : found->second;
        parts.attribute_values.push_back(value);
        parts.attributes.push_back(float_literal(value));
    }
}

std::string float_literal(double value) {
    const auto rounded = static_cast<float>(value);
    if (std::isnan(rounded)) return "__int_as_float(0x7fffffff)";
    if (std::isinf(rounded)) return rounded > 0 ? "__int_as_float(0x7f800000)" : "__int_as_float(0xff800000)";
    std::string digits = fmt::format("{}", rounded);
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    digits += 'f';
    return std::signbit(rounded) ? "(" + digits + ")" : digits;
}

} // namespace deepjit::codegen
