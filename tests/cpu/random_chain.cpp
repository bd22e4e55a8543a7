#include "tests/cpu/random_chain.hpp"

#include "tests/support/chain_builder.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace deepjit::testing {
namespace {

using graph::DType;
using graph::Signature;
using graph::TensorIndex;

constexpr std::array<std::string_view, 12> kInexact{"Cos", "Elu",     "Erf", "Exp",   "Gelu", "Log",
                                                    "Pow", "Sigmoid", "Sin", "Swish", "Tanh", "Reciprocal"};

DType random_dtype(std::mt19937_64& random) {
    constexpr std::array kDTypes{DType::Float32, DType::Float32, DType::Float16, DType::BFloat16};
    return kDTypes[random() % kDTypes.size()];
}

class Generator {
  public:
    Generator(const std::string& name, std::int64_t elements, const RandomChainOptions& options,
              std::mt19937_64& random)
        : builder_(name, {elements}), options_(options), random_(random) {}

    graph::ChainGraph generate() {
        const auto input_count = 1 + random_() % 4;
        for (std::size_t i = 0; i < input_count; ++i)
            floats_.push_back(builder_.input("in" + std::to_string(i), random_dtype(random_)));
        const auto op_count = 1 + random_() % 12;
        for (std::size_t i = 0; i < op_count; ++i)
            add_op();
        finish();
        return builder_.chain();
    }

  private:
    /// Recent values are likelier, so that chains grow long.
    TensorIndex pick(const std::vector<TensorIndex>& from) {
        const std::size_t recent = std::min<std::size_t>(from.size(), 3);
        if (random_() % 3 != 0) return from[from.size() - 1 - random_() % recent];
        return from[random_() % from.size()];
    }

    TensorIndex pick_float() {
        if (random_() % 6 == 0) {
            constexpr std::array kScalars{0.5, -1.0, 2.0, 0.1, 3.0, 1e-3, -0.0};
            return builder_.constant(kScalars[random_() % kScalars.size()]);
        }
        return pick(floats_);
    }

    void add_op() {
        const auto& table = graph::op_table();
        const graph::OpDefinition* definition = nullptr;
        do {
            definition = &table[random_() % table.size()];
        } while ((options_.exact_ops_only && !is_exact_op(std::string(definition->type))) ||
                 ((definition->signature == Signature::Logic || definition->signature == Signature::Select) &&
                  bools_.empty()));
        std::vector<TensorIndex> inputs;
        for (int i = 0; i < definition->input_count; ++i) {
            const bool wants_bool = definition->signature == Signature::Logic ||
                                    (definition->signature == Signature::Select && i == 0);
            inputs.push_back(wants_bool ? pick(bools_) : i == 0 ? pick(floats_) : pick_float());
        }
        if (definition->signature == Signature::Select) inputs[1] = pick(floats_);
        std::map<std::string, double> attributes;
        if (definition->type == "Clip") attributes = {{"min", -1.5}, {"max", 2.25}};
        if (definition->type == "Gelu")
            attributes = {{"approximate_tanh", static_cast<double>(random_() % 2)}};
        const auto result = builder_.op(std::string(definition->type), inputs, attributes, "kernel");
        if (definition->signature == Signature::Comparison || definition->signature == Signature::Logic) {
            bools_.push_back(result);
            return;
        }
        const auto rounded = builder_.round(result, random_dtype(random_));
        rounded_.push_back(rounded);
        floats_.push_back(rounded);
    }

    void finish() {
        if (rounded_.empty()) {
            rounded_.push_back(builder_.round(builder_.op("Neg", {pick(floats_)}, {}, "kernel")));
        }
        builder_.output(rounded_.back());
        rounded_.pop_back();
        for (const TensorIndex tensor : rounded_)
            if (options_.everything_escapes || random_() % 8 == 0) builder_.output(tensor);
    }

    ChainBuilder builder_;
    RandomChainOptions options_;
    std::mt19937_64& random_;
    std::vector<TensorIndex> floats_;
    std::vector<TensorIndex> bools_;
    std::vector<TensorIndex> rounded_;
};

} // namespace

graph::ChainGraph random_chain(const std::string& name, std::int64_t elements,
                               const RandomChainOptions& options, std::mt19937_64& random) {
    return Generator(name, elements, options, random).generate();
}

bool is_exact_op(const std::string& type) {
    // A reciprocal of a square root is one instruction, and not the correctly rounded one.
    return std::find(kInexact.begin(), kInexact.end(), type) == kInexact.end();
}

} // namespace deepjit::testing
