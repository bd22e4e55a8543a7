#include "fusers/lift/lift_chain.hpp"
#include "fusers/lift/template_arguments.hpp"
#include "src/base/text.hpp"
#include "src/graph/interpreter.hpp"
#include "src/graph/op_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace deepjit::lift {
namespace {

using graph::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Launches of a real PyTorch program by "dtype/operation" (see the file's head).
std::map<std::string, std::vector<ObservedLaunch>> recorded_launches() {
    std::ifstream file(std::string(DEEPJIT_SOURCE_DIR) + "/tests/fixtures/lift/aten_launches_torch_2_11.txt");
    std::map<std::string, std::vector<ObservedLaunch>> launches;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream fields(line);
        std::string operation;
        std::string symbol;
        fields >> operation >> symbol;
        ObservedLaunch launch;
        launch.kernel_name = demangle(symbol);
        for (std::string parameter; fields >> parameter;) {
            const auto first = parameter.find(':');
            const auto second = parameter.find(':', first + 1);
            const auto offset = static_cast<std::uint32_t>(std::stoul(parameter.substr(0, first)));
            const auto size = static_cast<std::uint32_t>(std::stoul(parameter.substr(first + 1)));
            launch.arguments.parameters.push_back({offset, size});
            launch.arguments.bytes.resize(offset + size, '\0');
            for (std::uint32_t i = 0; i < size; ++i)
                launch.arguments.bytes[offset + i] = static_cast<char>(
                    std::stoi(parameter.substr(second + 1 + 2 * std::size_t{i}, 2), nullptr, 16));
        }
        launches[operation].push_back(std::move(launch));
    }
    return launches;
}

const std::vector<ObservedLaunch>& recorded(const std::string& operation) {
    static const auto launches = recorded_launches();
    return launches.at(operation);
}

LiftedChain lift_recorded(const std::string& operation) {
    auto lifted = lift_launches("chain", recorded(operation), {}, 1);
    if (!lifted) throw std::runtime_error(lifted.error().message);
    return std::move(*lifted);
}

std::vector<std::string> op_types(const graph::ChainGraph& chain) {
    std::vector<std::string> types;
    for (const auto& op : chain.ops)
        if (op.type != graph::kRoundTo) types.push_back(op.type);
    return types;
}

/// What the lifted chain computes from a = 0.75 and b = 1.25.
double value_of(const std::string& operation) {
    const LiftedChain lifted = lift_recorded(operation);
    EXPECT_EQ(lifted.open_ops, 0) << operation << ": "
                                  << (lifted.open_ops > 0 ? lifted.chain.ops[0].reason : "");
    if (lifted.open_ops > 0) return std::nan("");
    std::vector<graph::Values> inputs;
    for (std::size_t i = 0; i < lifted.chain.inputs.size(); ++i)
        inputs.emplace_back(
            static_cast<std::size_t>(lifted.chain.tensor(lifted.chain.inputs[i]).element_count()),
            i == 0 ? 0.75 : 1.25);
    return (*graph::interpret(lifted.chain, inputs, graph::Arithmetic::Float64)).back()[0];
}

TEST(LiftLaunches, ComputeWhatPyTorchComputed) {
    const double a = 0.75;
    const double b = 1.25;
    const std::map<std::string, double> expected{
        {"add", a + b},
        {"add_alpha", a + 2.5 * b},
        {"sub", a - b},
        {"sub_alpha", a - 2.5 * b},
        {"add_scalar", a + 1.25},
        {"add_scalar_alpha", a + 3 * 1.25},
        {"rsub_scalar", 1.25 - a},
        {"sub_scalar", a - 1.25},
        {"mul", a * b},
        {"mul_scalar", a * 0.375},
        {"rmul_scalar", a * 0.375},
        {"div", a / b},
        {"div_scalar", a / 3},
        {"rdiv_scalar", 3 / a},
        {"relu", a},
        {"relu6", a},
        {"clamp", a},
        {"clamp_min", a},
        {"clamp_max", a},
        {"neg", -a},
        {"abs", a},
        {"exp", std::exp(a)},
        {"log", std::log(a)},
        {"sqrt", std::sqrt(a)},
        {"rsqrt", 1 / std::sqrt(a)},
        {"reciprocal", 1 / a},
        {"sigmoid", 1 / (1 + std::exp(-a))},
        {"tanh", std::tanh(a)},
        {"silu", a / (1 + std::exp(-a))},
        {"gelu", 0.5 * a * (1 + std::erf(a / std::sqrt(2.0)))},
        {"gelu_tanh", 0.5 * a * (1 + std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))},
        {"erf", std::erf(a)},
        {"floor", 0},
        {"ceil", 1},
        {"round", 1},
        {"sin", std::sin(a)},
        {"cos", std::cos(a)},
        {"pow2", a * a},
        {"pow3", a * a * a},
        {"pow_m2", 1 / (a * a)},
        {"pow_half", std::sqrt(a)},
        {"pow_m1", 1 / a},
        {"pow_2_5", std::pow(a, 2.5)},
        {"pow_tt", std::pow(a, b)},
        {"leaky_relu", a},
        {"elu", a},
        {"maximum", b},
        {"minimum", a},
        {"max_scalar", a},
        {"add_odd", a + b},
        {"relu_odd", a},
        {"mul_scalar_odd", a * 0.375},
        {"to_f16", a},
        {"to_bf16", a},
    };
    for (const auto& [operation, value] : expected)
        EXPECT_NEAR(value_of("float32/" + operation), value, 1e-6) << operation;
}

TEST(LiftLaunches, HalfPrecisionComputesInFloatAndRoundsWhereItStores) {
    for (const std::string dtype : {"float16", "bfloat16"}) {
        const LiftedChain lifted = lift_recorded(dtype + "/add");
        const auto& chain = lifted.chain;
        ASSERT_EQ(chain.ops.size(), 2u);
        EXPECT_EQ(chain.tensor(chain.inputs[0]).dtype, *graph::dtype_named(dtype));
        EXPECT_EQ(chain.tensor(chain.ops[0].outputs[0]).dtype, DType::Float32);
        EXPECT_EQ(chain.ops[1].type, graph::kRoundTo);
        EXPECT_EQ(chain.tensor(chain.outputs[0]).dtype, *graph::dtype_named(dtype));
    }
    EXPECT_NEAR(value_of("bfloat16/div_scalar"), 0.25, 1e-6);
    EXPECT_NEAR(value_of("bfloat16/relu6"), 0.75, 1e-6);
    EXPECT_NEAR(value_of("bfloat16/pow3"), 0.421875, 1e-6);
}

TEST(LiftLaunches, CastsComeFromTheLoaderAndTheStorer) {
    const auto to_float32 = lift_recorded("bfloat16/to_f32").chain;
    EXPECT_EQ(to_float32.tensor(to_float32.inputs[0]).dtype, DType::BFloat16);
    EXPECT_EQ(to_float32.tensor(to_float32.outputs[0]).dtype, DType::Float32);
    const auto to_bfloat16 = lift_recorded("float32/to_bf16").chain;
    EXPECT_EQ(to_bfloat16.tensor(to_bfloat16.outputs[0]).dtype, DType::BFloat16);
    // a + b.float(): a cast and an addition that loads a as bfloat16.
    const auto mixed = lift_recorded("bfloat16/add_mixed").chain;
    EXPECT_EQ(mixed.tensor(mixed.outputs[0]).dtype, DType::Float32);
    EXPECT_THAT(op_types(mixed), ElementsAre("Add"));
}

TEST(LiftLaunches, OpsListTheirEvidence) {
    const auto chain = lift_recorded("float32/mul_scalar").chain;
    ASSERT_EQ(chain.ops[0].evidence.size(), 2u);
    EXPECT_EQ(chain.ops[0].evidence[0].witness, "kernel name");
    EXPECT_THAT(chain.ops[0].evidence[0].detail, HasSubstr("MulFunctor<float>"));
    EXPECT_THAT(chain.ops[0].evidence[1].detail, HasSubstr("scalar = 0.375 at byte 4 of the functor"));
}

std::string argument_evidence(const std::string& operation) {
    return lift_recorded(operation).chain.ops[0].evidence[1].detail;
}

TEST(LiftLaunches, TheEvidenceOfAClampNamesItsModeAndTheLimitsThatItUses) {
    EXPECT_THAT(argument_evidence("float32/relu"),
                AllOf(HasSubstr("mode = 0 (low only) at byte 0"), HasSubstr("low = 0 at byte 4"),
                      Not(HasSubstr("high ="))));
    EXPECT_THAT(argument_evidence("float32/clamp_max"),
                AllOf(HasSubstr("mode = 1 (high only)"), HasSubstr("high = "), Not(HasSubstr("low = "))));
    EXPECT_THAT(argument_evidence("float32/relu6"),
                AllOf(HasSubstr("mode = 2 (low and high)"), HasSubstr("low = 0"), HasSubstr("high = 6")));
}

// --- chains built from one kind of launch, with addresses of our choice -----------------------------------

void set_pointers(ObservedLaunch& launch, const std::vector<std::uint64_t>& pointers) {
    const auto& parameter = launch.arguments.parameters[2];
    ASSERT_EQ(parameter.size_bytes, pointers.size() * 8);
    std::memcpy(launch.arguments.bytes.data() + parameter.byte_offset, pointers.data(), parameter.size_bytes);
}

ObservedLaunch launch_of(const std::string& operation, const std::vector<std::uint64_t>& pointers) {
    ObservedLaunch launch = recorded(operation).front();
    set_pointers(launch, pointers);
    return launch;
}

constexpr std::uint64_t kA = 0x10000;
constexpr std::uint64_t kB = 0x20000;
constexpr std::uint64_t kC = 0x30000;
constexpr std::uint64_t kT0 = 0x40000;
constexpr std::uint64_t kT1 = 0x50000;
constexpr std::uint64_t kOut = 0x60000;

std::vector<ObservedLaunch> seed_chain() {
    return {launch_of("float32/add", {kT0, kA, kB}), launch_of("float32/relu", {kT1, kT0}),
            launch_of("float32/mul_scalar", {kT0, kT1}), launch_of("float32/add", {kOut, kT0, kC})};
}

TEST(LiftLaunches, FollowsBuffersThroughAReusedAddress) {
    const auto lifted = *lift_launches("seed", seed_chain(), {{kT0, false, ""}, {kT1, false, ""}}, 7);
    const auto& chain = lifted.chain;
    EXPECT_THAT(op_types(chain), ElementsAre("Add", "Relu", "Mul", "Add"));
    ASSERT_EQ(chain.inputs.size(), 3u);
    ASSERT_EQ(chain.outputs.size(), 1u);
    EXPECT_EQ(chain.tensor(chain.inputs[2]).name, "in2");
    EXPECT_EQ(chain.tensor(chain.outputs[0]).name, "out");
    EXPECT_EQ(chain.frames_observed, 7);
    std::map<std::string, std::uint64_t> bound;
    for (const auto& binding : lifted.bindings)
        bound[chain.tensor(binding.tensor).name] = binding.address;
    EXPECT_EQ(bound["in0"], kA);
    EXPECT_EQ(bound["out"], kOut);
}

TEST(LiftLaunches, AnIntermediateThatEscapesIsAnOutputAndAnUnknownOneToo) {
    const auto escaping = *lift_launches("seed", seed_chain(), {{kT0, false, ""}, {kT1, true, "copied"}}, 1);
    EXPECT_EQ(escaping.chain.outputs.size(), 2u);
    const auto unknown = *lift_launches("seed", seed_chain(), {}, 1);
    EXPECT_EQ(unknown.chain.outputs.size(), 3u);
}

TEST(LiftLaunches, AnInPlaceKernelGivesANewTensorAtTheSameAddress) {
    const auto lifted = *lift_launches(
        "in_place", {launch_of("float32/relu", {kA, kA}), launch_of("float32/mul_scalar", {kA, kA})}, {}, 1);
    EXPECT_EQ(lifted.chain.inputs.size(), 1u);
    EXPECT_EQ(lifted.chain.outputs.size(), 1u);
    EXPECT_THAT(op_types(lifted.chain), ElementsAre("Relu", "Mul"));
}

std::string open_reason(ObservedLaunch launch) {
    const auto lifted = lift_launches("chain", {std::move(launch)}, {}, 1);
    if (!lifted || lifted->open_ops != 1) return "lifted";
    EXPECT_TRUE(graph::from_json(graph::to_json(lifted->chain)));
    return lifted->chain.ops[0].reason;
}

TEST(LiftLaunches, AnUnknownKernelStaysOpenWithItsNameAndReason) {
    auto launches = seed_chain();
    launches[1].kernel_name = "void my_relu<float>(float*, int)";
    const auto lifted = *lift_launches("seed", launches, {}, 1);
    EXPECT_EQ(lifted.open_ops, 1);
    const auto& open = lifted.chain.ops[2];
    EXPECT_TRUE(open.is_open());
    EXPECT_EQ(open.source, "void my_relu<float>(float*, int)");
    EXPECT_THAT(open.reason, HasSubstr("my_relu"));
}

TEST(LiftLaunches, AnUnknownFunctorStaysOpen) {
    ObservedLaunch launch = recorded("float32/mul").front();
    const auto at = launch.kernel_name.find("MulFunctor");
    launch.kernel_name.replace(at, 10, "XorFunctor");
    EXPECT_THAT(open_reason(launch), HasSubstr("XorFunctor"));
    EXPECT_THAT(open_reason(recorded("float32/mish").front()), HasSubstr("mish_kernel"));
    EXPECT_THAT(open_reason(recorded("float32/where").front()), HasSubstr("not in the table"));
}

TEST(LiftLaunches, ArgumentsThatDoNotFitStayOpen) {
    ObservedLaunch none = recorded("float32/add").front();
    none.arguments = {};
    EXPECT_THAT(open_reason(none), HasSubstr("not recorded"));

    ObservedLaunch cut = recorded("float32/add").front();
    cut.arguments.bytes.resize(20);
    EXPECT_THAT(open_reason(cut), HasSubstr("beyond the 20 recorded bytes"));

    ObservedLaunch few = recorded("float32/add").front();
    few.arguments.parameters[2].size_bytes = 16;
    EXPECT_THAT(open_reason(few), HasSubstr("needs 3 pointers"));

    ObservedLaunch empty = recorded("float32/add").front();
    std::memset(empty.arguments.bytes.data(), 0, 4);
    EXPECT_THAT(open_reason(empty), HasSubstr("element count reads as 0"));

    ObservedLaunch small = recorded("float32/mul_scalar").front();
    small.arguments.parameters[1].size_bytes = 4;
    EXPECT_THAT(open_reason(small), HasSubstr("functor has 4 bytes"));

    ObservedLaunch nan = recorded("float32/mul_scalar").front();
    std::memset(nan.arguments.bytes.data() + nan.arguments.parameters[1].byte_offset + 4, 0xff, 4);
    EXPECT_THAT(open_reason(nan), HasSubstr("no plausible scalar"));

    ObservedLaunch mode = recorded("float32/relu").front();
    std::memset(mode.arguments.bytes.data() + mode.arguments.parameters[1].byte_offset, 9, 1);
    EXPECT_THAT(open_reason(mode), HasSubstr("clamp's mode is 9"));
}

TEST(LiftLaunches, AReadOfAnotherSizeThanWasWrittenStaysOpen) {
    auto launches = seed_chain();
    const std::int32_t fewer = 512;
    std::memcpy(launches[1].arguments.bytes.data(), &fewer, sizeof(fewer));
    const auto lifted = *lift_launches("seed", launches, {}, 1);
    ASSERT_GE(lifted.open_ops, 1);
    EXPECT_THAT(lifted.chain.ops[2].reason, HasSubstr("overlaps"));
}

TEST(TemplateArguments, SplitAtTheTopLevelOnly) {
    EXPECT_THAT(template_arguments("f<4, g<a, b>(int, long)::{lambda(float, float)#1}, h>(int)", "f"),
                ElementsAre("4", "g<a, b>(int, long)::{lambda(float, float)#1}", "h"));
    EXPECT_TRUE(template_arguments("f<4, g<a", "f").empty());
    EXPECT_TRUE(template_arguments("plain", "f").empty());
}

} // namespace
} // namespace deepjit::lift
