#include "src/graph/interpreter.hpp"

#include "src/base/text.hpp"
#include "src/graph/broadcast.hpp"
#include "src/graph/op_table.hpp"

#include <fmt/format.h>

#include <array>

namespace deepjit::graph {
namespace {

constexpr std::size_t kMostOperands = 8;

std::vector<double> attribute_values(const Op& op, const OpDefinition& definition) {
    std::vector<double> values;
    for (const auto& [name, default_value] : definition.attributes) {
        const auto found = op.attributes.find(std::string(name));
        // ONNX attributes are float32.
        values.push_back(
            round_to(DType::Float32, found == op.attributes.end() ? default_value : found->second));
    }
    return values;
}

/// Reads an operand at the elements of the op's output.
class OperandReader {
  public:
    OperandReader(const Tensor& tensor, const Values& values, const std::vector<std::int64_t>& shape)
        : values_(values), single_(values.size() == 1) {
        if (!single_ && tensor.shape != shape) indices_ = broadcast_indices(tensor.shape, shape);
    }
    double at(std::size_t element) const {
        if (single_) return values_[0];
        return values_[indices_.empty() ? element : static_cast<std::size_t>(indices_[element])];
    }

  private:
    const Values& values_;
    bool single_;
    std::vector<std::int64_t> indices_;
};

Values run_op(const ChainGraph& chain, const Op& op, const std::vector<Values>& tensors,
              Arithmetic arithmetic) {
    const Tensor& output = chain.tensor(op.outputs[0]);
    std::vector<OperandReader> operands;
    for (const TensorIndex index : op.inputs)
        operands.emplace_back(chain.tensor(index), tensors[static_cast<std::size_t>(index)], output.shape);
    const OpDefinition* definition = find_op(op.type);
    const std::vector<double> attributes =
        definition == nullptr ? std::vector<double>{} : attribute_values(op, *definition);
    const bool rounds = arithmetic == Arithmetic::Rounded || output.dtype == DType::Bool;
    Values result(static_cast<std::size_t>(output.element_count()));
    std::array<double, kMostOperands> element{};
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (std::size_t k = 0; k < operands.size(); ++k)
            element[k] = operands[k].at(i);
        const double value =
            definition == nullptr ? element[0] : definition->evaluate(element.data(), attributes.data());
        result[i] = rounds ? round_to(output.dtype, value) : value;
    }
    return result;
}

} // namespace

Result<std::vector<Values>> interpret(const ChainGraph& chain, const std::vector<Values>& inputs,
                                      Arithmetic arithmetic) {
    DEEPJIT_CHECK(validate(chain));
    if (inputs.size() != chain.inputs.size())
        return failure(fmt::format("The chain '{}' takes {} inputs; {} were given.", chain.name,
                                   chain.inputs.size(), inputs.size()));
    std::vector<Values> tensors(chain.tensors.size());
    for (std::size_t i = 0; i < chain.tensors.size(); ++i) {
        const Tensor& tensor = chain.tensors[i];
        for (const double value : tensor.values)
            tensors[i].push_back(round_to(tensor.dtype, value));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Tensor& tensor = chain.tensor(chain.inputs[i]);
        if (static_cast<std::int64_t>(inputs[i].size()) != tensor.element_count())
            return failure(fmt::format("Input '{}' has {} elements; {} were given.", printable(tensor.name),
                                       tensor.element_count(), inputs[i].size()));
        Values& values = tensors[static_cast<std::size_t>(chain.inputs[i])];
        for (const double value : inputs[i])
            values.push_back(round_to(tensor.dtype, value));
    }
    for (const Op& op : chain.ops) {
        if (op.is_open())
            return failure(fmt::format("The kernel '{}' is still open in the chain '{}'.",
                                       elide_middle(printable(op.source), 200), chain.name),
                           printable(op.reason),
                           "Replace the Open op in chain.json by what the kernel computes.");
        tensors[static_cast<std::size_t>(op.outputs[0])] = run_op(chain, op, tensors, arithmetic);
    }
    std::vector<Values> outputs;
    for (const TensorIndex index : chain.outputs)
        outputs.push_back(std::move(tensors[static_cast<std::size_t>(index)]));
    return outputs;
}

} // namespace deepjit::graph
