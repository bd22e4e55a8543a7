#include "fusers/codegen/generated_kernel.hpp"
#include "fusers/codegen/op_text.hpp"
#include "fusers/jit/compiler.hpp"
#include "src/base/files.hpp"
#include "src/graph/op_table.hpp"
#include "tests/support/chain_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace deepjit::codegen {
namespace {

using deepjit::testing::add_relu_scale_add;
using deepjit::testing::ChainBuilder;
using graph::DType;
using ::testing::HasSubstr;
using ::testing::Not;

GeneratedKernel kernel_of(const graph::ChainGraph& chain, const plan::PlanOptions& options = {}) {
    return *generate(*plan::plan_fusion(chain, options));
}

/// Every op of the table, in float32 and 16-bit, with comparisons and a selection.
graph::ChainGraph chain_of_all_ops() {
    ChainBuilder builder("all_ops", {1000});
    auto value = builder.input("x", DType::Float16);
    const auto other = builder.input("y");
    const auto third = builder.input("z", DType::BFloat16);
    auto flag = builder.op("Less", {value, other});
    for (const auto& definition : graph::op_table()) {
        std::vector<graph::TensorIndex> operands{value, other, third};
        operands.resize(static_cast<std::size_t>(definition.input_count));
        switch (definition.signature) {
        case graph::Signature::Comparison:
            flag = builder.op(std::string(definition.type), operands);
            break;
        case graph::Signature::Logic:
            flag = builder.op(
                std::string(definition.type),
                std::vector<graph::TensorIndex>(static_cast<std::size_t>(definition.input_count), flag));
            break;
        case graph::Signature::Select:
            operands[0] = flag;
            [[fallthrough]];
        case graph::Signature::Arithmetic:
            value = builder.round(builder.op(std::string(definition.type), operands),
                                  definition.type.size() % 2 == 0 ? DType::Float32 : DType::BFloat16);
        }
    }
    value = builder.op("Gelu", {value}, {{"approximate_tanh", 1}});
    value = builder.op("Swish", {value}, {{"alpha", 2}});
    builder.output(builder.round(value, DType::Float16), "out");
    return builder.chain();
}

struct Golden {
    std::string file;
    graph::ChainGraph chain;
    plan::PlanOptions options;
};

std::vector<Golden> goldens() {
    return {{"add_relu_scale_add", add_relu_scale_add("add_relu_scale_add", 1048577), {}},
            {"add_relu_scale_add_bf16",
             add_relu_scale_add("add_relu_scale_add_bf16", 1 << 20, DType::BFloat16),
             {.configuration = {.block_threads = 128,
                                .vectors_per_thread = 2,
                                .streaming_stores = true,
                                .vector_bytes = 16},
              .operands_may_alias = true}},
            {"all_ops", chain_of_all_ops(), {}}};
}

TEST(Generate, TextEqualsTheGoldenFiles) {
    for (const Golden& golden : goldens()) {
        const std::string path =
            std::string(DEEPJIT_SOURCE_DIR) + "/tests/unit/codegen/golden/" + golden.file + ".cu";
        const std::string source = kernel_of(golden.chain, golden.options).source;
        if (std::getenv("DEEPJIT_UPDATE_GOLDENS") != nullptr) {
            ASSERT_TRUE(write_file_atomically(path, source));
        }
        const auto expected = read_file(path);
        ASSERT_TRUE(expected) << "run with DEEPJIT_UPDATE_GOLDENS=1 and review the difference";
        EXPECT_EQ(source, *expected) << "run with DEEPJIT_UPDATE_GOLDENS=1 and review the difference";
    }
}

TEST(Generate, CompilesForEveryArchitecture) {
    const auto known = jit::supported_capabilities();
    if (!known) GTEST_SKIP() << known.error().message;
    for (const Golden& golden : goldens()) {
        const auto kernel = kernel_of(golden.chain, golden.options);
        for (const std::string architecture :
             {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
            jit::CompileRequest request;
            request.name = kernel.name;
            request.source = kernel.source;
            request.architecture = *jit::parse_architecture(architecture);
            const auto compiled = jit::compile_uncached(request);
            ASSERT_TRUE(compiled) << architecture << ": " << compiled.error().message
                                  << compiled.error().evidence;
            ASSERT_EQ(compiled->entries.size(), kernel.entries.size());
            for (const auto& entry : compiled->entries)
                EXPECT_EQ(entry.spill_load_bytes, 0) << architecture << " " << entry.name;
        }
    }
}

TEST(Generate, EveryOpOfTheTableHasText) {
    for (const auto& definition : graph::op_table())
        EXPECT_NE(find_op_text(definition.type), nullptr) << definition.type;
}

TEST(Generate, RoundsAProductThatMeetsAnAdditionOfAnotherKernel) {
    const auto text = [](bool border, bool negated) {
        ChainBuilder builder("chain", {64});
        const auto x = builder.input("x");
        auto product = builder.op("Mul", {x, x});
        if (border) product = builder.round(product);
        if (negated) product = builder.op("Neg", {product});
        builder.output(builder.round(builder.op("Sub", {x, product})), "out");
        return kernel_of(builder.chain()).source;
    };
    EXPECT_THAT(text(true, false), HasSubstr("__fmul_rn(x, x)"));
    EXPECT_THAT(text(true, true), HasSubstr("__fmul_rn(x, x)"));
    // Inside one kernel the original's compiler was free to contract them too.
    EXPECT_THAT(text(false, false), Not(HasSubstr("__fmul_rn")));
}

TEST(Generate, CommentsNameTheOriginalKernelsByWhatTheyDo) {
    const std::string add =
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
    ChainBuilder builder("chain", {64});
    const auto x = builder.input("x");
    const auto sum = builder.round(builder.op("Add", {x, x}, {}, add));
    builder.output(builder.round(builder.op("Relu", {sum}, {}, "void my_relu<float>(float*)")), "out");
    const std::string source = kernel_of(builder.chain()).source;
    EXPECT_THAT(source, HasSubstr("    // 1. add (vectorized_elementwise_kernel)\n"));
    EXPECT_THAT(source, HasSubstr("    // 2. my_relu\n"));
}

TEST(Generate, HostileNamesStayInsideCommentsAndIdentifiers) {
    ChainBuilder builder("chain", {64});
    const auto a = builder.input("int");
    const auto b = builder.input("*/ x; \n#error");
    const auto c = builder.input("blockIdx");
    const auto d = builder.input("relu");
    const auto sum =
        builder.op("Add", {builder.op("Add", {a, b}), builder.op("Add", {c, d})}, {}, "evil */ \n#error \\");
    builder.output(builder.round(builder.op("Relu", {sum})), "M_PI");
    const auto kernel = kernel_of(builder.chain());
    EXPECT_THAT(kernel.source, Not(HasSubstr("\n#error")));
    for (const auto& parameter : kernel.parameters)
        EXPECT_NE(parameter.name, "int");
    const auto known = jit::supported_capabilities();
    if (!known) GTEST_SKIP() << known.error().message;
    jit::CompileRequest request;
    request.name = "hostile";
    request.source = kernel.source;
    request.architecture = *jit::parse_architecture("sm_90");
    const auto compiled = jit::compile_uncached(request);
    EXPECT_TRUE(compiled) << compiled.error().evidence << kernel.source;
}

TEST(Generate, ChoosesTheEntryByThePointers) {
    const auto kernel = kernel_of(add_relu_scale_add("seed", 1000), {.configuration = {.vector_bytes = 16}});
    EXPECT_EQ(entry_for(kernel, {0x100, 0x200, 0x300, 0x410}).name, "seed_vector");
    EXPECT_EQ(entry_for(kernel, {0x108, 0x200, 0x300, 0x410}).name, "seed_scalar");
    const auto narrow = kernel_of(add_relu_scale_add("seed", 1000));
    EXPECT_EQ(entry_for(narrow, {0x108, 0x200, 0x300, 0x410}).name, "seed_vector");
    EXPECT_EQ(entry_for(narrow, {0x108, 0x204, 0x300, 0x410}).name, "seed_scalar");
    const auto tiny = kernel_of(add_relu_scale_add("seed", 1));
    EXPECT_EQ(tiny.entries.size(), 1u);
}

TEST(FloatLiteral, ReadsBackExactly) {
    EXPECT_EQ(float_literal(0.5), "0.5f");
    EXPECT_EQ(float_literal(1), "1.0f");
    EXPECT_EQ(float_literal(-2), "(-2.0f)");
    EXPECT_EQ(float_literal(-0.0), "(-0.0f)");
    EXPECT_EQ(float_literal(HUGE_VAL), "__int_as_float(0x7f800000)");
    for (const double value : {0.1, 1e-40, 3.4028235e38, 1.0 / 3, 16777217.0}) {
        const std::string literal = float_literal(value);
        EXPECT_EQ(std::strtof(literal.c_str(), nullptr), static_cast<float>(value)) << literal;
    }
}

} // namespace
} // namespace deepjit::codegen
