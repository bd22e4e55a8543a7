#include "fusers/lift/aten_functor.hpp"

#include "fusers/lift/template_arguments.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

namespace deepjit::lift {
namespace {

using graph::DType;
using graph::TensorIndex;

std::optional<DType> dtype_of_type(std::string_view type) {
    if (type == "float") return DType::Float32;
    if (type == "c10::Half") return DType::Float16;
    if (type == "c10::BFloat16") return DType::BFloat16;
    return std::nullopt;
}

Result<DType> require_dtype(std::string_view type) {
    if (const auto dtype = dtype_of_type(type)) return *dtype;
    return failure(fmt::format("It computes on '{}'; float, c10::Half and c10::BFloat16 can be lifted.",
                               elide_middle(printable(type), 60)));
}

/// The types in the last `{lambda(A, B)#1}` of a name, and that lambda's number.
struct LastLambda {
    std::vector<std::string> types;
    int number = 0;
};

std::optional<LastLambda> last_lambda(const std::string& name) {
    const std::size_t at = name.rfind("{lambda(");
    const std::size_t close = name.find(")#", at);
    if (at == std::string::npos || close == std::string::npos) return std::nullopt;
    LastLambda lambda;
    std::string types = name.substr(at + 8, close - at - 8);
    for (std::size_t start = 0; start < types.size();) {
        const std::size_t comma = std::min(types.find(", ", start), types.size());
        lambda.types.push_back(types.substr(start, comma - start));
        start = comma + 2;
    }
    lambda.number = std::atoi(name.c_str() + close + 2);
    return lambda;
}

bool starts_with_call(const std::string& name, std::string_view function) {
    return name.rfind(function, 0) == 0 && name.size() > function.size() &&
           (name[function.size()] == '(' || name[function.size()] == '<');
}

/// Number of the first lambda behind the function's parameters: "f(...)::{lambda()#2}" gives 2.
int first_lambda_number(const std::string& name) {
    const std::size_t at = name.find("{lambda()#");
    return at == std::string::npos ? 0 : std::atoi(name.c_str() + at + 10);
}

using Lift = Result<TensorIndex> (*)(Functor&, const FunctorSignature&, OpSink&);

struct Entry {
    std::string_view function; ///< what the functor's name begins with, up to its '(' or '<'
    Lift lift;
};

// --- functors whose op needs more than a name -------------------------------------------------------------

/// self + alpha * other, where alpha is ±1 in most programs.
TensorIndex add_scaled(TensorIndex self, TensorIndex other, double alpha, OpSink& sink) {
    if (alpha == 1) return sink.op("Add", {self, other});
    if (alpha == -1) return sink.op("Sub", {self, other});
    return sink.op("Add", {self, sink.op("Mul", {other, sink.constant(alpha)})});
}

Result<TensorIndex> add(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const double alpha, f.float32_at(0, "alpha"));
    return add_scaled(f.inputs[0], f.inputs[1], alpha, sink);
}
Result<TensorIndex> add_to_self(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const double other, f.float32_at(0, "other"));
    DEEPJIT_TRY(const double alpha, f.float32_at(4, "alpha"));
    return add_scaled(f.inputs[0], sink.constant(other), alpha, sink);
}
Result<TensorIndex> add_to_other(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const double self, f.float32_at(0, "self"));
    DEEPJIT_TRY(const double alpha, f.float32_at(4, "alpha"));
    return add_scaled(sink.constant(self), f.inputs[0], alpha, sink);
}

/// The op of the functor inside BinaryFunctor, AUnaryFunctor and BUnaryFunctor.
Result<std::string> inner_op(const std::string& inner) {
    if (starts_with_call(inner, "binary_internal::MulFunctor") || starts_with_call(inner, "MulFunctor"))
        return std::string("Mul");
    if (starts_with_call(inner, "binary_internal::DivFunctor") || starts_with_call(inner, "DivFunctor"))
        return std::string("Div");
    if (starts_with_call(inner, "AddFunctor")) return std::string("Add");
    if (starts_with_call(inner, "maximum_kernel_cuda")) return std::string("Max");
    if (starts_with_call(inner, "minimum_kernel_cuda")) return std::string("Min");
    return failure(fmt::format("The functor '{}' is not in the table.", elide_middle(printable(inner), 100)));
}

Result<TensorIndex> binary(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const std::string op, inner_op(template_arguments(f.name, "BinaryFunctor")[3]));
    return sink.op(op, {f.inputs[0], f.inputs[1]});
}

/// {functor, scalar}: the functor is empty, so that the scalar lies at 4. Only MulFunctor keeps it as a float
/// whatever the tensors are; other functors keep it in the tensors' type.
Result<double> held_scalar(Functor& f, const FunctorSignature& signature, const std::string& op) {
    if (op != "Mul" && signature.output != DType::Float32)
        return failure(fmt::format("The scalar of '{}' is of a 16-bit type, whose place is not known.", op));
    return f.float32_at(4, "scalar");
}

Result<TensorIndex> scalar_first(Functor& f, const FunctorSignature& signature, OpSink& sink) {
    DEEPJIT_TRY(const std::string op, inner_op(template_arguments(f.name, "AUnaryFunctor")[3]));
    DEEPJIT_TRY(const double scalar, held_scalar(f, signature, op));
    // Multiplication commutes bit for bit, and people write the scalar second.
    if (op == "Mul") return sink.op(op, {f.inputs[0], sink.constant(scalar)});
    return sink.op(op, {sink.constant(scalar), f.inputs[0]});
}

/// Division by a scalar arrives here as a multiplication by its float reciprocal.
Result<TensorIndex> scalar_second(Functor& f, const FunctorSignature& signature, OpSink& sink) {
    DEEPJIT_TRY(const std::string op, inner_op(template_arguments(f.name, "BUnaryFunctor")[3]));
    DEEPJIT_TRY(const double scalar, held_scalar(f, signature, op));
    return sink.op(op, {f.inputs[0], sink.constant(scalar)});
}

/// {int limits; float low; float high}, limits 0: low only, 1: high only, 2: both.
Result<TensorIndex> clamp(Functor& f, const FunctorSignature&, OpSink& sink) {
    std::int32_t limits = -1;
    if (f.bytes.size() >= 4) std::memcpy(&limits, f.bytes.data(), 4);
    if (limits < 0 || limits > 2)
        return failure(fmt::format("The clamp's mode is {}, which is none of 0, 1 and 2.", limits));
    constexpr std::array<std::string_view, 3> kModes{"low only", "high only", "low and high"};
    f.notes.push_back(fmt::format("mode = {} ({}) at byte 0 of the functor", limits,
                                  kModes[static_cast<std::size_t>(limits)]));
    // A form of one limit keeps it in the first field, also when that is the upper one.
    DEEPJIT_TRY(const double first, f.float32_at(4, limits == 1 ? "high" : "low"));
    if (limits == 0 && first == 0) return sink.op("Relu", {f.inputs[0]});
    if (limits == 0) return sink.op("Clip", {f.inputs[0]}, {{"min", first}});
    if (limits == 1) return sink.op("Clip", {f.inputs[0]}, {{"max", first}});
    DEEPJIT_TRY(const double high, f.float32_at(8, "high"));
    return sink.op("Clip", {f.inputs[0]}, {{"min", first}, {"max", high}});
}

Result<TensorIndex> gelu(Functor& f, const FunctorSignature&, OpSink& sink) {
    const int form = first_lambda_number(f.name);
    if (form != 1 && form != 2) return failure("The form of gelu cannot be told from its name.");
    return sink.op("Gelu", {f.inputs[0]}, {{"approximate_tanh", form == 1 ? 1.0 : 0.0}});
}

Result<TensorIndex> rsqrt(Functor& f, const FunctorSignature&, OpSink& sink) {
    return sink.op("Reciprocal", {sink.op("Sqrt", {f.inputs[0]})});
}

Result<TensorIndex> leaky_relu(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const double slope, f.float32_at(0, "negative slope"));
    return sink.op("LeakyRelu", {f.inputs[0]}, {{"alpha", slope}});
}

Result<TensorIndex> elu(Functor& f, const FunctorSignature&, OpSink& sink) {
    DEEPJIT_TRY(const double alpha, f.float32_at(0, "alpha"));
    DEEPJIT_TRY(const double scale, f.float32_at(4, "scale"));
    DEEPJIT_TRY(const double input_scale, f.float32_at(8, "input scale"));
    if (scale != 1 || input_scale != 1)
        return failure(fmt::format("This elu has scale {} and input scale {}; only 1 can be lifted.", scale,
                                   input_scale));
    return sink.op("Elu", {f.inputs[0]}, {{"alpha", alpha}});
}

/// Lambda 1: x², 2: x³, 3: x⁻², 4: any exponent, held in the tensor's type.
Result<TensorIndex> pow_scalar(Functor& f, const FunctorSignature& signature, OpSink& sink) {
    const TensorIndex x = f.inputs[0];
    const int form = last_lambda(f.name)->number;
    const bool narrow = signature.output != DType::Float32;
    if (form == 1) return sink.op("Mul", {x, x});
    if (form == 2) {
        // Products of 16-bit values are 16-bit values.
        const TensorIndex square = sink.op("Mul", {x, x});
        return sink.op("Mul", {narrow ? sink.round(square, signature.output) : square, x});
    }
    if (narrow) return failure("Only squares and cubes of 16-bit tensors can be lifted from pow.");
    if (form == 3) return sink.op("Reciprocal", {sink.op("Mul", {x, x})});
    if (form != 4) return failure("The form of pow cannot be told from its name.");
    DEEPJIT_TRY(const double exponent, f.float32_at(0, "exponent"));
    return sink.op("Pow", {x, sink.constant(exponent)});
}

Result<TensorIndex> pow_tensor(Functor& f, const FunctorSignature&, OpSink& sink) {
    return sink.op("Pow", {f.inputs[0], f.inputs[1]});
}

/// Copies and casts: loading and storing do the whole work.
Result<TensorIndex> copy(Functor& f, const FunctorSignature&, OpSink&) {
    return f.inputs[0];
}

#define UNARY(function, type)                                                                                \
    Entry {                                                                                                  \
        function, [](Functor& f, const FunctorSignature&, OpSink& sink) -> Result<TensorIndex> {             \
            return sink.op(type, {f.inputs[0]});                                                             \
        }                                                                                                    \
    }

/// To lift another functor, add its line: the function that its name begins with, and what it computes.
constexpr std::array kTable{
    Entry{"CUDAFunctor_add", add},
    Entry{"CUDAFunctorOnSelf_add", add_to_self},
    Entry{"CUDAFunctorOnOther_add", add_to_other},
    Entry{"BinaryFunctor", binary},
    Entry{"AUnaryFunctor", scalar_first},
    Entry{"BUnaryFunctor", scalar_second},
    Entry{"launch_clamp_scalar", clamp},
    Entry{"GeluCUDAKernelImpl", gelu},
    Entry{"leaky_relu_kernel", leaky_relu},
    Entry{"elu_kernel", elu},
    Entry{"rsqrt_kernel_cuda", rsqrt},
    Entry{"pow_tensor_scalar_kernel_impl", pow_scalar},
    Entry{"pow_tensor_tensor_kernel", pow_tensor},
    Entry{"direct_copy_kernel_cuda", copy},
    Entry{"float16_copy_kernel_cuda", copy},
    Entry{"bfloat16_copy_kernel_cuda", copy},
    UNARY("AbsFunctor", "Abs"),
    UNARY("neg_kernel_cuda", "Neg"),
    UNARY("exp_kernel_cuda", "Exp"),
    UNARY("log_kernel_cuda", "Log"),
    UNARY("sqrt_kernel_cuda", "Sqrt"),
    UNARY("reciprocal_kernel_cuda", "Reciprocal"),
    UNARY("sigmoid_kernel_cuda", "Sigmoid"),
    UNARY("tanh_kernel_cuda", "Tanh"),
    UNARY("erf_kernel_cuda", "Erf"),
    UNARY("sin_kernel_cuda", "Sin"),
    UNARY("cos_kernel_cuda", "Cos"),
    UNARY("floor_kernel_cuda", "Floor"),
    UNARY("ceil_kernel_cuda", "Ceil"),
    UNARY("round_kernel_cuda", "Round"),
    UNARY("silu_kernel", "Swish"),
};
#undef UNARY

const Entry* find_entry(const std::string& name) {
    const auto* const found = std::find_if(
        kTable.begin(), kTable.end(), [&](const Entry& e) { return starts_with_call(name, e.function); });
    return found == kTable.end() ? nullptr : found;
}

} // namespace

Result<double> Functor::float32_at(std::size_t byte_offset, std::string_view meaning) {
    if (byte_offset + sizeof(float) > bytes.size())
        return failure(fmt::format("The functor has {} bytes, but its {} should lie at byte {}.",
                                   bytes.size(), meaning, byte_offset));
    float value = 0;
    std::memcpy(&value, bytes.data() + byte_offset, sizeof(value));
    if (!std::isfinite(value))
        return failure(
            fmt::format("The functor's {} reads as {}, which is no plausible scalar.", meaning, value));
    notes.push_back(fmt::format("{} = {} at byte {} of the functor", meaning, value, byte_offset));
    return static_cast<double>(value);
}

Result<FunctorSignature> signature_of(const Functor& functor) {
    const std::string& name = functor.name;
    if (find_entry(name) == nullptr)
        return failure(
            fmt::format("The functor '{}' is not in the table.", elide_middle(printable(name), 100)));
    FunctorSignature signature;
    for (const std::string_view holder : {"BinaryFunctor", "AUnaryFunctor", "BUnaryFunctor"}) {
        if (!starts_with_call(name, holder)) continue;
        const auto types = template_arguments(name, holder);
        if (types.size() != 4)
            return failure(fmt::format("'{}' has {} template arguments, not 4.", holder, types.size()));
        if (holder != "AUnaryFunctor") {
            DEEPJIT_TRY(const DType first, require_dtype(types[0]));
            signature.inputs.push_back(first);
        }
        if (holder != "BUnaryFunctor") {
            DEEPJIT_TRY(const DType second, require_dtype(types[1]));
            signature.inputs.push_back(second);
        }
        DEEPJIT_TRY(signature.output, require_dtype(types[2]));
        return signature;
    }
    for (const std::string_view holder :
         {"CUDAFunctor_add", "CUDAFunctorOnSelf_add", "CUDAFunctorOnOther_add", "AbsFunctor"}) {
        if (!starts_with_call(name, holder)) continue;
        const auto types = template_arguments(name, holder);
        if (types.size() != 1)
            return failure(fmt::format("'{}' has {} template arguments, not 1.", holder, types.size()));
        DEEPJIT_TRY(signature.output, require_dtype(types[0]));
        signature.inputs.assign(holder == "CUDAFunctor_add" ? 2 : 1, signature.output);
        return signature;
    }
    const auto lambda = last_lambda(name);
    if (!lambda || lambda->types.empty())
        return failure("The types of its operands cannot be told from the functor's name.");
    for (const auto& type : lambda->types) {
        DEEPJIT_TRY(const DType dtype, require_dtype(type));
        signature.inputs.push_back(dtype);
    }
    signature.output = signature.inputs[0];
    if (starts_with_call(name, "float16_copy_kernel_cuda")) signature.output = DType::Float16;
    if (starts_with_call(name, "bfloat16_copy_kernel_cuda")) signature.output = DType::BFloat16;
    return signature;
}

Result<TensorIndex> lift_functor(Functor& functor, const FunctorSignature& signature, OpSink& sink) {
    return find_entry(functor.name)->lift(functor, signature, sink);
}

} // namespace deepjit::lift
