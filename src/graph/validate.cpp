#include "src/base/text.hpp"
#include "src/graph/broadcast.hpp"
#include "src/graph/chain_graph.hpp"
#include "src/graph/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace deepjit::graph {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
constexpr std::size_t kMostDimensions = 16;
constexpr std::size_t kLongestName = 8192;

class Validator {
  public:
    explicit Validator(const ChainGraph& chain) : chain_(chain), defined_(chain.tensors.size(), false) {}

    Result<void> run() {
        if (!is_identifier(chain_.name))
            return failure(
                fmt::format("The chain's name '{}' is not a plain identifier.", printable(chain_.name)));
        for (std::size_t i = 0; i < chain_.tensors.size(); ++i)
            DEEPJIT_CHECK(check_tensor(chain_.tensors[i]));
        DEEPJIT_CHECK(check_list(chain_.inputs, TensorRole::Input, "inputs"));
        DEEPJIT_CHECK(check_list(chain_.outputs, TensorRole::Output, "outputs"));
        for (std::size_t i = 0; i < chain_.tensors.size(); ++i)
            defined_[i] =
                chain_.tensors[i].role == TensorRole::Input || chain_.tensors[i].role == TensorRole::Constant;
        for (std::size_t i = 0; i < chain_.ops.size(); ++i)
            DEEPJIT_CHECK(check_op(i));
        for (std::size_t i = 0; i < chain_.tensors.size(); ++i)
            if (!defined_[i])
                return failure(
                    fmt::format("Tensor '{}' is written by no op.", printable(chain_.tensors[i].name)));
        return {};
    }

  private:
    bool is_index(TensorIndex index) const {
        return index >= 0 && static_cast<std::size_t>(index) < chain_.tensors.size();
    }
    std::string name(TensorIndex index) const { return printable(chain_.tensor(index).name); }

    Result<void> check_tensor(const Tensor& tensor) {
        const std::string shown = printable(elide_middle(printable(tensor.name), 80));
        if (tensor.name.empty()) return failure("A tensor has no name.");
        if (tensor.name.size() > kLongestName)
            return failure(
                fmt::format("The name of tensor '{}' is longer than {} bytes.", shown, kLongestName));
        if (!names_.insert(tensor.name).second)
            return failure(fmt::format("Two tensors are named '{}'.", shown));
        if (tensor.shape.size() > kMostDimensions)
            return failure(fmt::format("Tensor '{}' has more than {} dimensions.", shown, kMostDimensions));
        std::int64_t count = 1;
        for (const std::int64_t extent : tensor.shape) {
            if (extent < 0)
                return failure(fmt::format("Tensor '{}' has the negative extent {}.", shown, extent));
            if (extent > kMostElements || (count > 0 && extent > kMostElements / count))
                return failure(fmt::format("Tensor '{}' has more than 2^48 elements.", shown));
            count *= extent;
        }
        if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
            return failure(fmt::format("Tensor '{}' has {} dimensions but {} strides.", shown,
                                       tensor.shape.size(), tensor.strides.size()));
        const auto values = static_cast<std::int64_t>(tensor.values.size());
        if (tensor.role == TensorRole::Constant && values != 1 && values != count)
            return failure(
                fmt::format("Constant '{}' has {} values for {} elements; give one, or one for each.", shown,
                            values, count));
        if (tensor.role != TensorRole::Constant && values != 0)
            return failure(fmt::format("Tensor '{}' is no constant but has values.", shown));
        return {};
    }

    Result<void> check_list(const std::vector<TensorIndex>& list, TensorRole role, std::string_view what) {
        std::set<TensorIndex> listed;
        for (const TensorIndex index : list) {
            if (!is_index(index))
                return failure(fmt::format("The chain's {} name a tensor that does not exist.", what));
            if (chain_.tensor(index).role != role)
                return failure(fmt::format("'{}' stands among the chain's {}, but its role is another.",
                                           name(index), what));
            if (!listed.insert(index).second)
                return failure(fmt::format("'{}' stands twice among the chain's {}.", name(index), what));
        }
        for (std::size_t i = 0; i < chain_.tensors.size(); ++i)
            if (chain_.tensors[i].role == role && !listed.contains(static_cast<TensorIndex>(i)))
                return failure(fmt::format("Tensor '{}' is missing from the chain's {}.",
                                           printable(chain_.tensors[i].name), what));
        return {};
    }

    Result<void> check_op(std::size_t number) {
        const Op& op = chain_.ops[number];
        const std::string place = fmt::format("Op {} ({})", number + 1, printable(op.type));
        for (const TensorIndex index : op.inputs) {
            if (!is_index(index)) return failure(place + " reads a tensor that does not exist.");
            if (!defined_[static_cast<std::size_t>(index)])
                return failure(
                    fmt::format("{} reads '{}' before any op has written it.", place, name(index)));
        }
        for (const TensorIndex index : op.outputs) {
            if (!is_index(index)) return failure(place + " writes a tensor that does not exist.");
            if (defined_[static_cast<std::size_t>(index)])
                return failure(fmt::format("{} writes '{}', which is an input or was written before.", place,
                                           name(index)));
            defined_[static_cast<std::size_t>(index)] = true;
        }
        if (op.is_open()) return {};
        if (op.type == kRoundTo) return check_round(op, place);
        return check_elementwise(op, place);
    }

    Result<void> check_round(const Op& op, const std::string& place) {
        if (op.inputs.size() != 1 || op.outputs.size() != 1)
            return failure(place + " needs one input and one output.");
        if (!op.attributes.empty()) return failure(place + " takes no attributes.");
        const Tensor& to = chain_.tensor(op.outputs[0]);
        if (!is_floating(to.dtype) || !is_floating(chain_.tensor(op.inputs[0]).dtype))
            return failure(place + " converts between floating types only.");
        return check_shapes(op, place);
    }

    Result<void> check_elementwise(const Op& op, const std::string& place) {
        const OpDefinition* definition = find_op(op.type);
        if (definition == nullptr) {
            std::vector<std::string> known{std::string(kRoundTo), std::string(kOpen)};
            for (const auto& each : op_table())
                known.emplace_back(each.type);
            const std::string nearest = nearest_word(op.type, known);
            return failure(place + " is no known op.", {},
                           nearest.empty() ? "" : fmt::format("Did you mean '{}'?", nearest));
        }
        if (static_cast<int>(op.inputs.size()) != definition->input_count || op.outputs.size() != 1)
            return failure(fmt::format("{} needs {} input{} and one output; it has {} and {}.", place,
                                       definition->input_count, definition->input_count == 1 ? "" : "s",
                                       op.inputs.size(), op.outputs.size()));
        for (const auto& [attribute, value] : op.attributes) {
            const auto& known = definition->attributes;
            if (std::none_of(known.begin(), known.end(), [&](const auto& a) { return a.name == attribute; }))
                return failure(fmt::format("{} has no attribute '{}'.", place, printable(attribute)));
        }
        DEEPJIT_CHECK(check_dtypes(op, *definition, place));
        return check_shapes(op, place);
    }

    Result<void> check_dtypes(const Op& op, const OpDefinition& definition, const std::string& place) {
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            const bool wants_bool = definition.signature == Signature::Logic ||
                                    (definition.signature == Signature::Select && i == 0);
            const DType dtype = chain_.tensor(op.inputs[i]).dtype;
            if (wants_bool ? dtype != DType::Bool : !is_floating(dtype))
                return failure(fmt::format("{} needs {} for '{}', which is {}.", place,
                                           wants_bool ? "bool" : "a floating type", name(op.inputs[i]),
                                           name_of(dtype)));
        }
        const bool yields_bool =
            definition.signature == Signature::Logic || definition.signature == Signature::Comparison;
        const DType dtype = chain_.tensor(op.outputs[0]).dtype;
        if (yields_bool ? dtype != DType::Bool : !is_floating(dtype))
            return failure(fmt::format("{} yields {}, but '{}' is {}.", place,
                                       yields_bool ? "bool" : "a floating type", name(op.outputs[0]),
                                       name_of(dtype)));
        return {};
    }

    Result<void> check_shapes(const Op& op, const std::string& place) {
        std::vector<std::int64_t> shape;
        for (const TensorIndex index : op.inputs) {
            const auto joined = broadcast_shape(shape, chain_.tensor(index).shape);
            if (!joined)
                return failure(fmt::format("{}: the shape [{}] of '{}' does not broadcast with [{}].", place,
                                           fmt::join(chain_.tensor(index).shape, ", "), name(index),
                                           fmt::join(shape, ", ")));
            shape = *joined;
        }
        const Tensor& output = chain_.tensor(op.outputs[0]);
        if (output.shape != shape)
            return failure(fmt::format("{}: '{}' has the shape [{}], but its inputs give [{}].", place,
                                       name(op.outputs[0]), fmt::join(output.shape, ", "),
                                       fmt::join(shape, ", ")));
        return {};
    }

    const ChainGraph& chain_;
    std::vector<bool> defined_;
    std::set<std::string> names_;
};

} // namespace

std::int64_t Tensor::element_count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

Result<void> validate(const ChainGraph& chain) {
    return Validator(chain).run();
}

} // namespace deepjit::graph
