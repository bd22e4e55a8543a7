#include "fusers/codegen/generated_kernel.hpp"
#include "src/graph/interpreter.hpp"
#include "src/graph/op_table.hpp"
#include "tests/cpu/emitted_library.hpp"
#include "tests/cpu/random_chain.hpp"
#include "tests/cpu/stored_values.hpp"
#include "tests/support/chain_builder.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace deepjit::testing {
namespace {

using graph::Values;

struct Case {
    graph::ChainGraph chain;
    codegen::GeneratedKernel kernel;
};

/// 1 to 33, and around every border of vectors and blocks of the small configurations below.
std::int64_t random_length(std::mt19937_64& random) {
    constexpr std::array kBorders{128, 256, 512, 1024, 2048, 4096};
    if (random() % 2 == 0) return 1 + static_cast<std::int64_t>(random() % 33);
    return kBorders[random() % kBorders.size()] + static_cast<std::int64_t>(random() % 17) - 8;
}

plan::PlanOptions random_options(std::mt19937_64& random) {
    plan::PlanOptions options;
    options.configuration = {.block_threads = random() % 2 == 0 ? 32 : 128,
                             .vectors_per_thread = 1 << random() % 3,
                             .streaming_stores = random() % 2 == 0,
                             .vector_bytes = random() % 4 == 0 ? 8 : 16,
                             .scalar_elements_per_thread = 1 << random() % 4};
    options.operands_may_alias = random() % 4 == 0;
    return options;
}

std::vector<Case> random_cases(int count, std::uint64_t seed, const RandomChainOptions& options) {
    std::mt19937_64 random(seed);
    std::vector<Case> cases;
    for (int i = 0; i < count; ++i) {
        Case each;
        each.chain = random_chain("case_" + std::to_string(i), random_length(random), options, random);
        auto plan = plan::plan_fusion(each.chain, random_options(random));
        if (!plan) {
            ADD_FAILURE() << plan.error().message << "\n" << graph::to_json(each.chain);
            continue;
        }
        each.kernel = *codegen::generate(*plan);
        cases.push_back(std::move(each));
    }
    return cases;
}

EmittedLibrary build(const std::vector<Case>& cases) {
    std::vector<EmittedText> texts;
    for (const Case& each : cases)
        texts.push_back(text_of(each.kernel));
    auto library = EmittedLibrary::build(texts);
    if (!library) throw std::runtime_error(library.error().message + "\n" + library.error().evidence);
    return std::move(*library);
}

/// Runs the entry that a launcher would choose and checks the guards of every buffer.
std::vector<Values> run_case(const EmittedLibrary& library, const Case& each,
                             const std::vector<Values>& inputs, std::size_t shift_elements) {
    std::vector<StoredValues> buffers;
    for (const auto& parameter : each.kernel.parameters)
        buffers.emplace_back(parameter.dtype, each.kernel.element_count, shift_elements);
    std::vector<void*> pointers;
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (i < inputs.size()) buffers[i].write(inputs[i]);
        pointers.push_back(buffers[i].data());
        addresses.push_back(reinterpret_cast<std::uintptr_t>(buffers[i].data()));
    }
    const codegen::EntryPoint& entry = codegen::entry_for(each.kernel, addresses);
    EXPECT_FALSE(shift_elements == 1 && entry.needs_vector_alignment);
    library.find(entry.name)(entry.grid_blocks, entry.block_threads, pointers.data());
    std::vector<Values> outputs;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        EXPECT_TRUE(buffers[i].guards_are_whole()) << each.kernel.parameters[i].name << "\n"
                                                   << each.kernel.source;
        if (i >= inputs.size()) outputs.push_back(buffers[i].read());
    }
    return outputs;
}

std::vector<Values> random_inputs(const graph::ChainGraph& chain, std::mt19937_64& random) {
    std::vector<Values> inputs;
    for (const auto index : chain.inputs)
        inputs.push_back(random_values(chain.tensor(index).dtype,
                                       static_cast<std::size_t>(chain.tensor(index).element_count()),
                                       random));
    return inputs;
}

bool same_value(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return a == b && std::signbit(a) == std::signbit(b);
}

TEST(EmittedText, ExactChainsEqualTheInterpreterBitForBit) {
    constexpr int kChains = 60;
    int vector_runs = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        const auto cases = random_cases(kChains, seed, {.exact_ops_only = true});
        const EmittedLibrary library = build(cases);
        std::mt19937_64 random(seed);
        for (const Case& each : cases) {
            const auto inputs = random_inputs(each.chain, random);
            const auto expected = graph::interpret(each.chain, inputs, graph::Arithmetic::Rounded);
            ASSERT_TRUE(expected) << expected.error().message;
            for (const std::size_t shift : {0, 1}) {
                vector_runs += shift == 0 && each.kernel.entries.size() == 2 ? 1 : 0;
                const auto got = run_case(library, each, inputs, shift);
                for (std::size_t o = 0; o < got.size(); ++o)
                    for (std::size_t i = 0; i < got[o].size(); ++i)
                        ASSERT_TRUE(same_value(got[o][i], (*expected)[o][i]))
                            << got[o][i] << " for " << (*expected)[o][i] << " in element " << i
                            << " of output " << o << ", shift " << shift << "\n"
                            << each.kernel.source;
            }
        }
    }
    EXPECT_GT(vector_runs, 200);
}

/// Units in the last place of float32 that a function of the emitted text may be off, on top of half a unit
/// of the dtype that it is stored in. glibc states at most 1 for its own; the composed ones add a few
/// roundings.
constexpr double kMostUlps = 6;

/// The largest error allowed for one op that read `x` and should give `expected`.
double allowed_error(const std::string& type, double x, double expected, graph::DType stored) {
    // gelu multiplies x by 1 + erf, which cancels for negative x: its error is a share of x, not of the
    // result.
    const double scale = type == "Gelu" ? std::max(std::abs(expected), std::abs(x)) : std::abs(expected);
    const double ulp = graph::epsilon_of(graph::DType::Float32);
    // exp(-x) overflows in float32 where its reciprocal would still be denormal; swish multiplies that by x.
    const double least = std::ldexp(1.0, -126) * (type == "Swish" ? std::max(1.0, std::abs(x)) : 1.0);
    const double least_of_dtype = stored == graph::DType::Float16 ? std::ldexp(1.0, -24) : 0.0;
    return kMostUlps * ulp * scale + 0.5 * graph::epsilon_of(stored) * std::abs(expected) + least +
           least_of_dtype;
}

TEST(EmittedText, EveryOpOfInexactChainsIsWithinItsBound) {
    constexpr int kChains = 60;
    std::map<std::string, int> seen;
    for (const std::uint64_t seed : {11, 12}) {
        const auto cases = random_cases(kChains, seed, {.exact_ops_only = false, .everything_escapes = true});
        const EmittedLibrary library = build(cases);
        std::mt19937_64 random(seed);
        for (const Case& each : cases) {
            const auto& chain = each.chain;
            const auto inputs = random_inputs(chain, random);
            const auto got = run_case(library, each, inputs, random() % 2);
            // What the kernel itself stored is what the next op is judged by.
            std::vector<Values> values(chain.tensors.size());
            for (std::size_t i = 0; i < inputs.size(); ++i)
                values[static_cast<std::size_t>(chain.inputs[i])] = inputs[i];
            for (std::size_t i = 0; i < got.size(); ++i)
                values[static_cast<std::size_t>(chain.outputs[i])] = got[i];
            for (std::size_t n = 0; n + 1 < chain.ops.size(); ++n) {
                const graph::Op& op = chain.ops[n];
                const graph::Op& round = chain.ops[n + 1];
                const auto* definition = graph::find_op(op.type);
                if (definition == nullptr || definition->signature != graph::Signature::Arithmetic) continue;
                const auto stored = chain.tensor(round.outputs[0]).dtype;
                ++seen[op.type];
                std::vector<double> attributes;
                for (const auto& [name, default_value] : definition->attributes) {
                    const auto given = op.attributes.find(std::string(name));
                    attributes.push_back(graph::round_to(
                        graph::DType::Float32, given == op.attributes.end() ? default_value : given->second));
                }
                for (std::int64_t i = 0; i < each.kernel.element_count; ++i) {
                    std::array<double, 3> operands{};
                    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
                        const auto& tensor = chain.tensor(op.inputs[k]);
                        operands[k] =
                            tensor.role == graph::TensorRole::Constant
                                ? graph::round_to(tensor.dtype, tensor.values[0])
                                : values[static_cast<std::size_t>(op.inputs[k])][static_cast<std::size_t>(i)];
                    }
                    const double expected = definition->evaluate(operands.data(), attributes.data());
                    const double result =
                        values[static_cast<std::size_t>(round.outputs[0])][static_cast<std::size_t>(i)];
                    const double rounded =
                        graph::round_to(stored, graph::round_to(graph::DType::Float32, expected));
                    if (same_value(result, rounded)) continue;
                    const double bound = allowed_error(op.type, operands[0], expected, stored);
                    const bool overflows =
                        std::isinf(result) && std::isinf(graph::round_to(stored, expected * (1 + 1e-6)));
                    ASSERT_TRUE(std::abs(result - expected) <= bound || overflows)
                        << op.type << "(" << operands[0] << ", " << operands[1] << ") gave " << result
                        << " for " << expected << ", stored as " << graph::name_of(stored) << "\n"
                        << each.kernel.source;
                }
            }
        }
    }
    for (const auto& definition : graph::op_table())
        if (definition.signature == graph::Signature::Arithmetic) {
            EXPECT_GT(seen[std::string(definition.type)], 0) << definition.type << " was in no chain";
        }
}

TEST(EmittedText, ReciprocalOfASquareRootIsOneOp) {
    ChainBuilder builder("rsqrt", {100});
    const auto x = builder.input("x");
    builder.output(builder.round(builder.op("Reciprocal", {builder.op("Sqrt", {x})})), "y");
    Case each{builder.chain(), *codegen::generate(*plan::plan_fusion(builder.chain()))};
    EXPECT_NE(each.kernel.source.find("rsqrtf(x)"), std::string::npos);
    const EmittedLibrary library = build({each});
    Values input(100);
    for (std::size_t i = 0; i < input.size(); ++i)
        input[i] = static_cast<double>(i);
    const auto output = run_case(library, each, {input}, 0)[0];
    EXPECT_TRUE(std::isinf(output[0]));
    EXPECT_EQ(output[4], 0.5);
    EXPECT_NEAR(output[99], 1 / std::sqrt(99.0), 1e-8);
}

TEST(EmittedText, WorksInPlaceWhenAliasingIsAllowed) {
    const auto chain = add_relu_scale_add("in_place", 1000);
    plan::PlanOptions options;
    options.operands_may_alias = true;
    Case each{chain, *codegen::generate(*plan::plan_fusion(chain, options))};
    EXPECT_EQ(each.kernel.source.find("__restrict__"), std::string::npos);
    const EmittedLibrary library = build({each});
    std::mt19937_64 random(7);
    const auto inputs = random_inputs(chain, random);
    std::vector<StoredValues> buffers;
    std::vector<void*> pointers;
    for (const auto& values : inputs) {
        buffers.emplace_back(graph::DType::Float32, 1000, 0);
        buffers.back().write(values);
    }
    for (auto& buffer : buffers)
        pointers.push_back(buffer.data());
    pointers.push_back(buffers[0].data());
    const auto& entry = each.kernel.entries[0];
    library.find(entry.name)(entry.grid_blocks, entry.block_threads, pointers.data());
    const auto expected = *graph::interpret(chain, inputs, graph::Arithmetic::Rounded);
    const auto got = buffers[0].read();
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_TRUE(same_value(got[i], expected[0][i]));
}

} // namespace
} // namespace deepjit::testing
