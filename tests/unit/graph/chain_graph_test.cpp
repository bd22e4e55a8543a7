#include "src/graph/chain_graph.hpp"
#include "src/graph/interpreter.hpp"
#include "tests/support/chain_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace deepjit::graph {
namespace {

using deepjit::testing::add_relu_scale_add;
using deepjit::testing::ChainBuilder;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

std::string error_of(const ChainGraph& chain) {
    const auto outcome = validate(chain);
    return outcome ? "valid" : outcome.error().message;
}

TEST(Validate, AcceptsAChainAndNamesWhatIsWrongInABrokenOne) {
    const ChainGraph good = add_relu_scale_add("seed", 8);
    EXPECT_EQ(error_of(good), "valid");

    ChainGraph bad = good;
    bad.name = "no identifier";
    EXPECT_THAT(error_of(bad), HasSubstr("no identifier"));

    bad = good;
    bad.ops[2].type = "Rellu";
    EXPECT_THAT(error_of(bad), HasSubstr("Op 3 (Rellu)"));
    EXPECT_THAT(validate(bad).error().hint, HasSubstr("Relu"));

    bad = good;
    bad.ops[0].inputs.pop_back();
    EXPECT_THAT(error_of(bad), HasSubstr("needs 2 inputs"));

    bad = good;
    bad.ops[0].inputs[0] = 99;
    EXPECT_THAT(error_of(bad), HasSubstr("does not exist"));

    bad = good;
    std::swap(bad.ops[0], bad.ops[1]);
    EXPECT_THAT(error_of(bad), HasSubstr("before any op has written it"));

    bad = good;
    bad.tensors[1].name = bad.tensors[0].name;
    EXPECT_THAT(error_of(bad), HasSubstr("Two tensors are named 'a'"));

    bad = good;
    bad.tensor(bad.inputs[1]).shape = {3};
    EXPECT_THAT(error_of(bad), HasSubstr("does not broadcast"));

    bad = good;
    bad.inputs.pop_back();
    EXPECT_THAT(error_of(bad), HasSubstr("missing from the chain's inputs"));

    bad = good;
    bad.tensors[0].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    EXPECT_THAT(error_of(bad), HasSubstr("2^48"));

    bad = good;
    bad.ops[0].attributes["alpha"] = 2;
    EXPECT_THAT(error_of(bad), HasSubstr("no attribute 'alpha'"));
}

TEST(ChainJson, IsTheSameToTheByteAfterReading) {
    ChainGraph chain = add_relu_scale_add("seed", 1048577, DType::BFloat16);
    chain.ops[0].evidence = {{"kernel name", "add<\"x\">"}};
    chain.ops[0].attributes = {};
    chain.tensors[0].alignment_bytes = 256;
    chain.frames_observed = 12;
    chain.provenance = "by hand */ \n";
    const std::string text = to_json(chain);
    const auto read = from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
    EXPECT_EQ(hash_of(*read), hash_of(chain));
}

TEST(ChainJson, KeepsInfinitiesAndStrayBytes) {
    ChainBuilder builder("clip", {4});
    const auto x = builder.input("x\xff\"");
    builder.output(builder.op("Clip", {x}, {{"min", -kInfinity}, {"max", 1.5}}, "kernel \x80"), "y");
    const std::string text = to_json(builder.chain());
    const auto read = from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->ops[0].attributes.at("min"), -kInfinity);
    EXPECT_EQ(to_json(*read), text);
}

TEST(ChainJson, ErrorsGiveThePlace) {
    const std::string good = to_json(add_relu_scale_add("seed", 8));
    const auto broken = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        const auto read = from_json(text);
        return read ? std::string("read") : read.error().message;
    };
    EXPECT_THAT(broken("\"float32\"", "\"float33\""), HasSubstr("tensors[0].dtype"));
    EXPECT_THAT(broken("[\"a\", \"b\"], \"outputs\"", "[\"a\", \"q\"], \"outputs\""),
                HasSubstr("ops[0].inputs[1]"));
    EXPECT_THAT(broken("\"role\": \"input\"", "\"rolle\": \"input\""), HasSubstr("rolle"));
    EXPECT_THAT(broken("\"version\": 1", "\"version\": 2"), HasSubstr("version"));
    EXPECT_THAT(broken("{", "["), HasSubstr("not valid JSON"));
    EXPECT_FALSE(from_json("[]"));
    EXPECT_FALSE(from_json(""));
}

TEST(ChainHash, ChangesWithWhatIsComputedAndNotWithWhereItCameFrom) {
    const ChainGraph chain = add_relu_scale_add("seed", 8);
    ChainGraph other = chain;
    other.provenance = "elsewhere";
    other.ops[0].source = "another name";
    other.ops[0].evidence = {{"a", "b"}};
    EXPECT_EQ(hash_of(other), hash_of(chain));
    for (Tensor& tensor : other.tensors)
        if (tensor.role == TensorRole::Constant) tensor.values = {0.25};
    EXPECT_NE(hash_of(other), hash_of(chain));
    EXPECT_NE(hash_of(add_relu_scale_add("seed", 9)), hash_of(chain));
    // The same on every machine.
    EXPECT_EQ(hash_of(chain), "7f041728d8be4f1f7099d0a79081e8cc");
}

Values run(const ChainGraph& chain, const std::vector<Values>& inputs, Arithmetic arithmetic) {
    auto outputs = interpret(chain, inputs, arithmetic);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return (*outputs)[0];
}

TEST(Interpreter, RoundsOnlyInRoundedArithmetic) {
    const ChainGraph chain = add_relu_scale_add("seed", 1, DType::Float16);
    const double a = 2048;
    const std::vector<Values> inputs{{a}, {1}, {0}};
    EXPECT_EQ(run(chain, inputs, Arithmetic::Float64)[0], 1024.5);
    EXPECT_EQ(run(chain, inputs, Arithmetic::Rounded)[0], 1024);
}

TEST(Interpreter, FollowsPyTorchOnNanAndSignedZeros) {
    const auto one = [](const std::string& type, std::vector<double> operands) {
        ChainBuilder builder("chain", {1});
        std::vector<TensorIndex> inputs;
        std::vector<Values> values;
        for (std::size_t i = 0; i < operands.size(); ++i) {
            inputs.push_back(builder.input("x" + std::to_string(i)));
            values.push_back({operands[i]});
        }
        builder.output(builder.op(type, inputs));
        return run(builder.chain(), values, Arithmetic::Rounded)[0];
    };
    EXPECT_TRUE(std::isnan(one("Relu", {kNan})));
    EXPECT_FALSE(std::signbit(one("Relu", {-0.0})));
    EXPECT_TRUE(std::isnan(one("Max", {kNan, 1})));
    EXPECT_TRUE(std::isnan(one("Min", {1, kNan})));
    EXPECT_FALSE(std::signbit(one("Max", {-0.0, 0.0})));
    EXPECT_TRUE(std::signbit(one("Min", {0.0, -0.0})));
    EXPECT_TRUE(std::isnan(one("Clip", {kNan})));
    EXPECT_EQ(one("Round", {2.5}), 2);
    EXPECT_EQ(one("Sigmoid", {-kInfinity}), 0);
}

TEST(Interpreter, BroadcastsLikeOnnx) {
    ChainBuilder builder("chain", {2, 3});
    const auto x = builder.input("x");
    const auto bias = builder.input("bias");
    builder.chain().tensor(bias).shape = {3};
    builder.output(builder.op("Add", {x, bias}));
    EXPECT_EQ(run(builder.chain(), {{0, 1, 2, 3, 4, 5}, {10, 20, 30}}, Arithmetic::Float64),
              (Values{10, 21, 32, 13, 24, 35}));
    ChainBuilder column("chain", {2, 3});
    const auto y = column.input("y");
    const auto scale = column.input("scale");
    column.chain().tensor(scale).shape = {2, 1};
    column.output(column.op("Mul", {y, scale}));
    EXPECT_EQ(run(column.chain(), {{1, 1, 1, 1, 1, 1}, {2, 3}}, Arithmetic::Float64),
              (Values{2, 2, 2, 3, 3, 3}));
}

TEST(Interpreter, RefusesAnOpenOpByItsKernel) {
    ChainGraph chain = add_relu_scale_add("seed", 1);
    chain.ops[2].type = "Open";
    chain.ops[2].source = "my_kernel";
    chain.ops[2].reason = "nobody knows it";
    const auto outcome = interpret(chain, {{1}, {1}, {1}}, Arithmetic::Float64);
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().message, HasSubstr("my_kernel"));
}

} // namespace
} // namespace deepjit::graph
