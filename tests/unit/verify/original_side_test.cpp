#include "fusers/verify/original_side.hpp"
#include "fusers/verify/test_cases.hpp"
#include "tests/support/chain_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace deepjit::verify {
namespace {

TEST(OriginalSide, a_chain_is_cut_behind_each_store) {
    const auto chain = testing::add_relu_scale_add("add_relu", 100);
    const auto originals = split_into_originals(chain);
    ASSERT_TRUE(originals);
    ASSERT_EQ(originals->size(), 4u);
    for (const OriginalKernel& original : *originals) {
        EXPECT_EQ(original.chain.ops.size(), 2u);
        EXPECT_TRUE(graph::validate(original.chain)) << original.chain.name;
    }
    EXPECT_EQ((*originals)[0].inputs, (std::vector<graph::TensorIndex>{chain.inputs[0], chain.inputs[1]}));
    EXPECT_EQ((*originals)[2].inputs.size(), 1u) << "the scalar is a constant, not a parameter";
}

/// The originals one after the other, through stored values, compute what the chain computes.
TEST(OriginalSide, the_kernels_in_order_compute_the_chain) {
    const auto chain = testing::add_relu_scale_add("add_relu", 100);
    const TestCase test_case = test_cases(chain).front();
    const auto whole = expected_for(chain, test_case);
    ASSERT_TRUE(whole);

    std::map<graph::TensorIndex, graph::Values> memory;
    for (std::size_t i = 0; i < chain.inputs.size(); ++i)
        memory[chain.inputs[i]] = test_case.inputs[i];
    const auto originals = split_into_originals(chain);
    for (const OriginalKernel& original : *originals) {
        std::vector<graph::Values> inputs;
        for (const auto tensor : original.inputs)
            inputs.push_back(memory.at(tensor));
        const auto resized = with_element_count(original.chain, static_cast<std::int64_t>(test_case.period));
        auto outputs = graph::interpret(resized, inputs, graph::Arithmetic::Rounded);
        ASSERT_TRUE(outputs) << outputs.error().message;
        for (std::size_t i = 0; i < outputs->size(); ++i)
            memory[original.outputs[i]] = (*outputs)[i];
    }
    EXPECT_EQ(memory.at(chain.outputs[0]), whole->front().rounded);
}

TEST(OriginalSide, a_chain_without_stores_counts_each_op_as_a_kernel) {
    auto chain = testing::add_relu_scale_add("add_relu", 100);
    chain.ops = {chain.ops[0], chain.ops[2]};
    chain.ops[1].inputs = chain.ops[0].outputs;
    chain.ops[1].outputs = {chain.outputs[0]};
    const auto originals = split_into_originals(chain);
    ASSERT_TRUE(originals);
    EXPECT_EQ(originals->size(), 2u);
}

TEST(OriginalSide, an_unrounded_value_that_crosses_a_store_is_refused_by_name) {
    auto chain = testing::add_relu_scale_add("add_relu", 100);
    chain.ops[2].inputs = chain.ops[0].outputs; // Relu reads what Add computed and did not store
    const auto originals = split_into_originals(chain);
    ASSERT_FALSE(originals);
    EXPECT_NE(originals.error().message.find("'" + chain.tensor(chain.ops[0].outputs[0]).name + "'"),
              std::string::npos);
}

TEST(TestCases, every_kind_of_seam_occurs_and_bases_are_shifted) {
    const auto chain = testing::add_relu_scale_add("add_relu", 1000);
    const auto cases = test_cases(chain);
    bool has_nan = false, has_infinity = false, has_negative_zero = false, has_denormal = false,
         has_shift = false;
    for (const TestCase& test_case : cases) {
        for (const double value : test_case.inputs.front()) {
            has_nan |= std::isnan(value);
            has_infinity |= std::isinf(value);
            has_negative_zero |= value == 0 && std::signbit(value);
            has_denormal |= value != 0 && std::fabs(value) < std::ldexp(1, -126);
        }
        has_shift |= std::any_of(test_case.shift_elements.begin(), test_case.shift_elements.end(),
                                 [](int shift) { return shift != 0; });
        EXPECT_EQ(test_case.shift_elements.size(), 4u);
    }
    EXPECT_TRUE(has_nan && has_infinity && has_negative_zero && has_denormal && has_shift);
}

TEST(TestCases, specials_meet_in_all_pairs) {
    const auto chain = testing::add_relu_scale_add("add_relu", 1000);
    const auto cases = test_cases(chain);
    const auto specials =
        std::find_if(cases.begin(), cases.end(), [](const auto& one) { return one.name == "specials"; });
    ASSERT_NE(specials, cases.end());
    bool infinities_cancel = false;
    for (std::size_t i = 0; i < specials->period; ++i)
        infinities_cancel |=
            std::isinf(specials->inputs[0][i]) && specials->inputs[1][i] == -specials->inputs[0][i];
    EXPECT_TRUE(infinities_cancel);
}

TEST(TestCases, a_chain_of_single_elements_has_cases_of_its_own) {
    const auto chain = with_element_count(testing::add_relu_scale_add("add_relu", 1000), 1);
    for (const TestCase& test_case : test_cases(chain)) {
        const auto expected = expected_for(chain, test_case);
        ASSERT_TRUE(expected) << expected.error().message;
        EXPECT_EQ(expected->front().exact.size(), 1u);
    }
}

TEST(TestCases, the_same_chain_gives_the_same_values) {
    EXPECT_EQ(test_cases(testing::add_relu_scale_add("add_relu", 10)).front().inputs,
              test_cases(testing::add_relu_scale_add("add_relu", 99)).front().inputs);
}

} // namespace
} // namespace deepjit::verify
