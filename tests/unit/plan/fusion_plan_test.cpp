#include "fusers/plan/fusion_plan.hpp"
#include "tests/support/chain_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace deepjit::plan {
namespace {

using deepjit::testing::add_relu_scale_add;
using deepjit::testing::ChainBuilder;
using graph::DType;
using ::testing::HasSubstr;

std::string refusal(const graph::ChainGraph& chain, const PlanOptions& options = {}) {
    const auto plan = plan_fusion(chain, options);
    return plan ? "planned" : plan.error().message;
}

TEST(PlanFusion, OrdersOperandsInputsFirstAndVectorisesByTheNarrowest) {
    const auto plan = *plan_fusion(add_relu_scale_add("seed", 1000, DType::Float16));
    ASSERT_EQ(plan.operands.size(), 4u);
    EXPECT_TRUE(plan.operands.back().is_output);
    EXPECT_EQ(plan.group_elements, 4);
    EXPECT_EQ(plan_fusion(add_relu_scale_add("seed", 1000))->group_elements, 2);
    const PlanOptions sixteen{.configuration = {.vector_bytes = 16}};
    EXPECT_EQ(plan_fusion(add_relu_scale_add("seed", 1000), sixteen)->group_elements, 4);
    EXPECT_FALSE(plan.index_64_bit);
}

TEST(PlanFusion, CountsIn64BitsWhereALaunchReachesBeyond32) {
    EXPECT_FALSE(plan_fusion(add_relu_scale_add("seed", (std::int64_t{1} << 32) - 4096))->index_64_bit);
    EXPECT_TRUE(plan_fusion(add_relu_scale_add("seed", (std::int64_t{1} << 32) - 8))->index_64_bit);
}

TEST(PlanFusion, RefusesByName) {
    auto chain = add_relu_scale_add("seed", 8);
    chain.ops[2].type = "Open";
    chain.ops[2].source = "void my_kernel<float>()";
    chain.ops[2].reason = "no lifter knows it";
    const auto open = plan_fusion(chain);
    ASSERT_FALSE(open);
    EXPECT_THAT(open.error().message, HasSubstr("void my_kernel<float>()"));
    EXPECT_THAT(open.error().evidence, HasSubstr("no lifter"));
    EXPECT_THAT(open.error().hint, HasSubstr("chain.json"));

    ChainBuilder broadcast("chain", {2, 3});
    const auto x = broadcast.input("x");
    const auto bias = broadcast.input("bias");
    broadcast.chain().tensor(bias).shape = {3};
    broadcast.output(broadcast.op("Add", {x, bias}));
    EXPECT_THAT(refusal(broadcast.chain()), HasSubstr("'bias' has the shape [3]"));

    auto strided = add_relu_scale_add("seed", 8);
    strided.tensors[1].strides = {2};
    EXPECT_THAT(refusal(strided), HasSubstr("'b' has the strides [2]"));

    auto wide = add_relu_scale_add("seed", 8);
    wide.tensors[0].dtype = DType::Float64;
    EXPECT_THAT(refusal(wide), HasSubstr("'a' is float64"));

    EXPECT_THAT(refusal(add_relu_scale_add("seed", 0)), HasSubstr("empty"));
    EXPECT_THAT(refusal(add_relu_scale_add("seed", 8), {.configuration = {.block_threads = 100}}),
                HasSubstr("100"));
    EXPECT_THAT(refusal(add_relu_scale_add("seed", 8), {.configuration = {.vector_bytes = 4}}),
                HasSubstr("4 bytes"));
}

TEST(PlanFusion, AcceptsStridesThatAreContiguous) {
    auto chain = add_relu_scale_add("seed", 8);
    chain.tensors[1].strides = {1};
    EXPECT_EQ(refusal(chain), "planned");
}

TEST(PlanFusion, WideRoundingKeepsWhatDecidesAComparison) {
    ChainBuilder builder("chain", {8});
    const auto x = builder.input("x", DType::Float16);
    const auto doubled = builder.round(builder.op("Add", {x, x}), DType::Float16, "doubled");
    const auto squared = builder.round(builder.op("Mul", {doubled, doubled}), DType::Float16, "squared");
    const auto floor = builder.op("Floor", {doubled});
    builder.output(builder.round(builder.op("Add", {squared, floor}), DType::Float16), "out");
    builder.chain().rounding = graph::Rounding::Wide;
    const auto plan = *plan_fusion(builder.chain());
    const auto has = [&](const std::string& name) {
        return std::any_of(plan.chain.tensors.begin(), plan.chain.tensors.end(),
                           [&](const auto& tensor) { return tensor.name == name; });
    };
    EXPECT_TRUE(has("doubled"));
    EXPECT_FALSE(has("squared"));
    EXPECT_TRUE(graph::validate(plan.chain));
    EXPECT_EQ(plan.chain_hash, graph::hash_of(builder.chain()));
}

TEST(CandidateConfigurations, StreamOnlyWhatIsLargerThanL2First) {
    const auto small = candidate_configurations(add_relu_scale_add("seed", 1 << 20));
    const auto large = candidate_configurations(add_relu_scale_add("seed", 1 << 26));
    EXPECT_FALSE(small.front().streaming_stores);
    EXPECT_TRUE(large.front().streaming_stores);
    const auto tiny = candidate_configurations(add_relu_scale_add("seed", 64));
    EXPECT_TRUE(
        std::all_of(tiny.begin(), tiny.end(), [](const auto& c) { return c.vectors_per_thread == 1; }));
    for (const auto& each : large)
        EXPECT_TRUE(plan_fusion(add_relu_scale_add("seed", 1 << 26), {.configuration = each}));
}

} // namespace
} // namespace deepjit::plan
