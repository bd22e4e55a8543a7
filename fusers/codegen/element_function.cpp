#include "fusers/codegen/element_function.hpp"

#include "fusers/codegen/op_text.hpp"
#include "src/base/text.hpp"
#include "src/graph/op_table.hpp"
#include "src/model/kernel_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deepjit::codegen {
namespace {

using graph::ChainGraph;
using graph::DType;
using graph::Op;
using graph::Tensor;
using graph::TensorIndex;
using graph::TensorRole;

constexpr std::size_t kTextColumns = 100;

/// "Mul (vectorized_elementwise_kernel)": what the kernel does, and its function where that is another word.
std::string kernel_comment(const std::string& kernel) {
    // A name without parameters may be a graph node's or a person's words.
    if (kernel.find_first_of("(<") == std::string::npos)
        return comment_safe(elide_middle(printable(kernel), kTextColumns));
    const std::string label = printable(model::kernel_label(kernel));
    const std::string function = printable(base_name_of_function(kernel));
    return comment_safe(
        elide_middle(label == function ? label : fmt::format("{} ({})", label, function), kTextColumns));
}

bool is_16_bit(DType dtype) {
    return dtype == DType::Float16 || dtype == DType::BFloat16;
}

/// Rounding to float32 what is float32 already: no code, but a border that arithmetic may not be contracted
/// across.
bool is_pure_border(const ChainGraph& chain, const Op& op) {
    return op.type == graph::kRoundTo &&
           chain.tensor(op.inputs[0]).dtype == chain.tensor(op.outputs[0]).dtype;
}

/// "float a, float b" on as many lines as it needs.
std::string parameter_lines(const std::vector<std::string>& parameters) {
    std::string text;
    std::size_t column = 4;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::string& parameter = parameters[i];
        if (i > 0 && column + 3 + parameter.size() > kTextColumns) {
            text += ",\n    ";
            column = 4;
        } else if (i > 0) {
            text += ", ";
            column += 2;
        }
        text += parameter;
        column += parameter.size();
    }
    return text;
}

class Writer {
  public:
    Writer(const plan::FusionPlan& plan, const std::vector<std::string>& operand_names,
           Identifiers& identifiers)
        : plan_(plan), chain_(plan.chain), operand_names_(operand_names), identifiers_(identifiers),
          readers_(plan.chain.tensors.size()), variable_(plan.chain.tensors.size()) {
        for (std::size_t i = 0; i < chain_.ops.size(); ++i)
            for (const TensorIndex index : chain_.ops[i].inputs)
                readers_[at(index)].push_back(i);
    }

    ElementFunction write() {
        ElementFunction function;
        function.name = identifiers_.take(chain_.name + "_element");
        std::vector<std::string> parameters;
        for (std::size_t i = 0; i < plan_.operands.size(); ++i)
            parameters.push_back(parameter(plan_.operands[i], operand_names_[i]));
        function.text = fmt::format("__device__ __forceinline__ void {}(\n    {}) {{\n", function.name,
                                    parameter_lines(parameters));
        function.text += loads_;
        name_borders();
        for (std::size_t i = 0; i < chain_.ops.size(); ++i)
            write_op(i);
        function.text += body_ + "}\n";
        return function;
    }

  private:
    static std::size_t at(TensorIndex index) { return static_cast<std::size_t>(index); }

    std::string parameter(const plan::Operand& operand, const std::string& name) {
        const Tensor& tensor = chain_.tensor(operand.tensor);
        const std::string type = stored_type(tensor.dtype);
        if (operand.is_output) {
            stored_name_[operand.tensor] = name;
            variable_[at(operand.tensor)] = name;
            return fmt::format("{}& {}", type, name);
        }
        variable_[at(operand.tensor)] = name;
        if (!is_16_bit(tensor.dtype)) return fmt::format("{} {}", type, name);
        const std::string stored = identifiers_.take(name + "_stored");
        loads_ += fmt::format("    const float {} = to_float({});\n", name, stored);
        return fmt::format("{} {}", type, stored);
    }

    /// A value that only passes a border takes the name that it has behind it.
    void name_borders() {
        for (auto op = chain_.ops.rbegin(); op != chain_.ops.rend(); ++op) {
            if (!is_pure_border(chain_, *op)) continue;
            const TensorIndex input = op->inputs[0];
            if (chain_.tensor(input).role != TensorRole::Intermediate || readers_[at(input)].size() != 1)
                continue;
            if (is_16_bit(chain_.tensor(input).dtype)) continue;
            if (variable_[at(op->outputs[0])].empty())
                variable_[at(op->outputs[0])] = identifiers_.take(chain_.tensor(op->outputs[0]).name);
            variable_[at(input)] = variable_[at(op->outputs[0])];
        }
    }

    std::string operand_text(TensorIndex index) const {
        const Tensor& tensor = chain_.tensor(index);
        if (tensor.role != TensorRole::Constant) return variable_[at(index)];
        const double value = graph::round_to(tensor.dtype, tensor.values[0]);
        if (tensor.dtype == DType::Bool) return value != 0 ? "true" : "false";
        return float_literal(value);
    }

    /// The producer of `index` when it is `type`, only this op reads it, and nothing stores it.
    const Op* sole_producer(TensorIndex index, std::string_view type) const {
        if (chain_.tensor(index).role != TensorRole::Intermediate || readers_[at(index)].size() != 1)
            return nullptr;
        for (const Op& op : chain_.ops)
            if (op.outputs[0] == index) return op.type == type ? &op : nullptr;
        return nullptr;
    }

    bool is_folded_into_rsqrt(const Op& op) const {
        if (op.type != "Sqrt") return false;
        const TensorIndex output = op.outputs[0];
        return readers_[at(output)].size() == 1 && chain_.ops[readers_[at(output)][0]].type == "Reciprocal" &&
               sole_producer(output, "Sqrt") != nullptr && !is_16_bit(chain_.tensor(output).dtype);
    }

    /// Nothing but a conversion to 16 bits reads it, so that its expression can stand there.
    bool is_rounded_at_once(TensorIndex index) const {
        const auto& readers = readers_[at(index)];
        if (chain_.tensor(index).role != TensorRole::Intermediate || readers.size() != 1) return false;
        const Op& reader = chain_.ops[readers[0]];
        return reader.type == graph::kRoundTo && is_16_bit(chain_.tensor(reader.outputs[0]).dtype) &&
               !is_16_bit(chain_.tensor(index).dtype);
    }

    /// Whether a product in `index` reaches an addition on the far side of a border.
    bool meets_addition_across_border(TensorIndex index, bool crossed) const {
        return std::any_of(readers_[at(index)].begin(), readers_[at(index)].end(), [&](std::size_t reader) {
            const Op& op = chain_.ops[reader];
            if (is_pure_border(chain_, op)) return meets_addition_across_border(op.outputs[0], true);
            if (op.type == "Neg") return meets_addition_across_border(op.outputs[0], crossed);
            const OpText* text = find_op_text(op.type);
            return crossed && text != nullptr && text->adds_input;
        });
    }

    std::string expression(const Op& op) const {
        if (op.type == "Reciprocal")
            if (const Op* root = sole_producer(op.inputs[0], "Sqrt");
                root != nullptr && is_folded_into_rsqrt(*root))
                return fmt::format("rsqrtf({})", operand_text(root->inputs[0]));
        const OpText* text = find_op_text(op.type);
        OpTextParts parts;
        for (const TensorIndex index : op.inputs)
            parts.operands.push_back(operand_text(index));
        set_attributes(op, parts);
        parts.round_product = text->is_product && meets_addition_across_border(op.outputs[0], false);
        return text->expression(parts);
    }

    void write_op(std::size_t number) {
        const Op& op = chain_.ops[number];
        write_comment(number);
        if (is_folded_into_rsqrt(op)) return;
        const TensorIndex output = op.outputs[0];
        const Tensor& tensor = chain_.tensor(output);
        if (op.type == graph::kRoundTo) {
            write_round(op, tensor);
            return;
        }
        if (is_rounded_at_once(output)) {
            variable_[at(output)] = expression(op);
            return;
        }
        // An op may write a 16-bit tensor directly: its result is rounded like a store.
        if (is_16_bit(tensor.dtype))
            define_16_bit(output, tensor, expression(op));
        else
            define(output, tensor.dtype == DType::Bool ? "bool" : "float", expression(op));
    }

    void write_round(const Op& op, const Tensor& to) {
        const TensorIndex output = op.outputs[0];
        const std::string value = operand_text(op.inputs[0]);
        if (is_16_bit(to.dtype) && !is_pure_border(chain_, op)) {
            define_16_bit(output, to, value);
        } else if (to.role == TensorRole::Output) {
            if (is_16_bit(to.dtype))
                define_16_bit(output, to, value);
            else if (value != variable_[at(output)])
                define(output, "float", value);
        } else if (variable_[at(output)].empty()) {
            variable_[at(output)] = value;
        }
    }

    void define(TensorIndex index, std::string_view type, const std::string& value) {
        std::string& variable = variable_[at(index)];
        const bool assigns_output =
            std::any_of(stored_name_.begin(), stored_name_.end(),
                        [&](const auto& stored) { return stored.second == variable; });
        if (assigns_output) {
            body_ += fmt::format("    {} = {};\n", variable, value);
            return;
        }
        if (variable.empty()) variable = identifiers_.take(chain_.tensor(index).name);
        body_ += fmt::format("    const {} {} = {};\n", type, variable, value);
    }

    void define_16_bit(TensorIndex index, const Tensor& tensor, const std::string& value) {
        const std::string type = stored_type(tensor.dtype);
        std::string& variable = variable_[at(index)];
        if (tensor.role != TensorRole::Output) {
            variable = identifiers_.take(tensor.name);
            body_ += fmt::format("    const float {} = round_to_{}({});\n", variable, type, value);
            return;
        }
        const std::string stored = stored_name_.at(index);
        body_ += fmt::format("    {} = to_{}({});\n", stored, type, value);
        if (readers_[at(index)].empty()) return;
        variable = identifiers_.take(stored + "_rounded");
        body_ += fmt::format("    const float {} = to_float({});\n", variable, stored);
    }

    /// One comment an original kernel: its ops are adjacent and end with a RoundTo.
    void write_comment(std::size_t number) {
        const Op& op = chain_.ops[number];
        const bool continues = number > 0 && chain_.ops[number - 1].type != graph::kRoundTo &&
                               !op.source.empty() && chain_.ops[number - 1].source == op.source;
        if (continues) return;
        if (op.source.empty()) {
            if (op.type == graph::kRoundTo) return;
            body_ += fmt::format("    // {}\n", comment_safe(op.type));
            return;
        }
        // A RoundTo behind another op of the same kernel belongs to it.
        if (op.type == graph::kRoundTo && number > 0 && chain_.ops[number - 1].source == op.source) return;
        body_ += fmt::format("    // {}. {}\n", ++kernels_, kernel_comment(op.source));
    }

    const plan::FusionPlan& plan_;
    const ChainGraph& chain_;
    const std::vector<std::string>& operand_names_;
    Identifiers& identifiers_;
    std::vector<std::vector<std::size_t>> readers_; ///< ops that read each tensor
    std::vector<std::string> variable_;             ///< the name that holds each tensor's value as a float
    std::map<TensorIndex, std::string> stored_name_;
    std::string loads_;
    std::string body_;
    int kernels_ = 0; ///< original kernels that have a comment
};

} // namespace

std::string stored_type(DType dtype) {
    return dtype == DType::Float32 ? "float" : std::string(graph::name_of(dtype));
}

ElementFunction element_function(const plan::FusionPlan& plan, const std::vector<std::string>& operand_names,
                                 Identifiers& identifiers) {
    return Writer(plan, operand_names, identifiers).write();
}

} // namespace deepjit::codegen
