#pragma once

#include "src/graph/chain_graph.hpp"
#include "src/graph/op_table.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace deepjit::testing {

/// Builds elementwise chains of one shape.
class ChainBuilder {
  public:
    ChainBuilder(std::string name, std::vector<std::int64_t> shape) : shape_(std::move(shape)) {
        chain_.name = std::move(name);
    }

    graph::TensorIndex input(std::string name, graph::DType dtype = graph::DType::Float32) {
        const auto index = add(std::move(name), dtype, graph::TensorRole::Input);
        chain_.inputs.push_back(index);
        return index;
    }
    graph::TensorIndex constant(double value, graph::DType dtype = graph::DType::Float32) {
        const auto index =
            add("c" + std::to_string(chain_.tensors.size()), dtype, graph::TensorRole::Constant);
        chain_.tensor(index).shape.clear();
        chain_.tensor(index).values = {value};
        return index;
    }
    /// `source` is the kernel that the op stands for.
    graph::TensorIndex op(std::string type, std::vector<graph::TensorIndex> inputs,
                          std::map<std::string, double> attributes = {}, std::string source = {}) {
        const graph::OpDefinition* definition = graph::find_op(type);
        const bool yields_bool =
            definition != nullptr && (definition->signature == graph::Signature::Comparison ||
                                      definition->signature == graph::Signature::Logic);
        const auto index =
            add("t" + std::to_string(chain_.tensors.size()),
                yields_bool ? graph::DType::Bool : graph::DType::Float32, graph::TensorRole::Intermediate);
        graph::Op op;
        op.type = std::move(type);
        op.inputs = std::move(inputs);
        op.outputs = {index};
        op.attributes = std::move(attributes);
        op.source = std::move(source);
        chain_.ops.push_back(std::move(op));
        return index;
    }
    graph::TensorIndex round(graph::TensorIndex tensor, graph::DType dtype = graph::DType::Float32,
                             std::string name = {}) {
        const std::string source = chain_.ops.empty() ? std::string() : chain_.ops.back().source;
        const auto index = op(std::string(graph::kRoundTo), {tensor}, {}, source);
        chain_.tensor(index).dtype = dtype;
        if (!name.empty()) chain_.tensor(index).name = std::move(name);
        return index;
    }
    void output(graph::TensorIndex tensor, std::string name = {}) {
        chain_.tensor(tensor).role = graph::TensorRole::Output;
        if (!name.empty()) chain_.tensor(tensor).name = std::move(name);
        chain_.outputs.push_back(tensor);
    }
    graph::ChainGraph& chain() { return chain_; }

  private:
    graph::TensorIndex add(std::string name, graph::DType dtype, graph::TensorRole role) {
        graph::Tensor tensor;
        tensor.name = std::move(name);
        tensor.dtype = dtype;
        tensor.shape = shape_;
        tensor.role = role;
        chain_.tensors.push_back(std::move(tensor));
        return static_cast<graph::TensorIndex>(chain_.tensors.size() - 1);
    }

    graph::ChainGraph chain_;
    std::vector<std::int64_t> shape_;
};

/// relu(a + b) * 0.5 + c as four kernels would compute it.
inline graph::ChainGraph add_relu_scale_add(std::string name, std::int64_t elements,
                                            graph::DType dtype = graph::DType::Float32) {
    ChainBuilder builder(std::move(name), {elements});
    const auto a = builder.input("a", dtype);
    const auto b = builder.input("b", dtype);
    const auto c = builder.input("c", dtype);
    const auto sum = builder.round(builder.op("Add", {a, b}, {}, "add kernel"), dtype, "sum");
    const auto rectified = builder.round(builder.op("Relu", {sum}, {}, "relu kernel"), dtype, "rectified");
    const auto half = builder.constant(0.5);
    const auto scaled =
        builder.round(builder.op("Mul", {rectified, half}, {}, "mul kernel"), dtype, "scaled");
    builder.output(builder.round(builder.op("Add", {scaled, c}, {}, "add kernel"), dtype), "out");
    return builder.chain();
}

} // namespace deepjit::testing
