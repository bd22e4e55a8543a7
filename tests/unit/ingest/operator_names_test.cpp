#include "src/ingest/operator_names.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace deepjit::ingest {
namespace {

using namespace std::string_literals;

struct Case {
    const char* about;
    const char* domain; ///< null: the default one
    std::string name;
    /// "framework | operator | sequence | op id | shapes | input ids", "-" where absent; "" for no operator.
    std::string expected;
};

std::string text_of(const std::optional<OperatorFacts>& facts) {
    if (!facts) return {};
    const auto number = [](const auto& value) { return value ? std::to_string(*value) : std::string("-"); };
    return facts->framework + " | " + facts->operator_name + " | " + number(facts->sequence) + " | " +
           number(facts->op_id) + " | " + facts->shapes_json.value_or("-") + " | " +
           facts->input_op_ids_json.value_or("-");
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"all fields", nullptr,
         "aten::add, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(3,0), (9,1)]",
         "PyTorch | aten::add | 12 | 34 | [[2,3],[]] | [[3,0],[9,1]]"},
        {"inference has no sequence", nullptr,
         "aten::mm, op_id = 1529997, sizes = [[4, 1024], [1024, 2048]], input_op_ids = [(1,0), (2,0)]",
         "PyTorch | aten::mm | - | 1529997 | [[4,1024],[1024,2048]] | [[1,0],[2,0]]"},
        {"without shapes", nullptr, "aten::mm, op_id = 1515155", "PyTorch | aten::mm | - | 1515155 | - | -"},
        {"before 1.13", nullptr, "MulBackward0, seq = 7, sizes = [[8]]",
         "PyTorch | MulBackward0 | 7 | - | [[8]] | -"},
        {"autograd's own range", nullptr,
         "autograd::engine::evaluate_function: AddmmBackward0, op_id = 5, sizes = [[]]",
         "PyTorch | autograd::engine::evaluate_function: AddmmBackward0 | - | 5 | [[]] | -"},
        {"empty lists", nullptr, "aten::zeros, op_id = 1, sizes = [], input_op_ids = []",
         "PyTorch | aten::zeros | - | 1 | [] | []"},
        {"the name alone", nullptr, "aten::relu_", "PyTorch | aten::relu_ | - | - | - | -"},
        {"a name that looks like fields", nullptr, "loss, seq = x, op_id = 3, seq = 5",
         "PyTorch | loss, seq = x, op_id = 3 | 5 | - | - | -"},
        {"the largest numbers", nullptr, "f, seq = 9223372036854775807, op_id = 1",
         "PyTorch | f | 9223372036854775807 | 1 | - | -"},
        {"a number too large", nullptr, "f, seq = 9223372036854775808", ""},
        {"fields in another order", nullptr, "f, op_id = 1, seq = 2",
         "PyTorch | f, op_id = 1 | 2 | - | - | -"},
        {"something after the fields", nullptr, "f, seq = 12 and more", ""},
        {"a list that is cut", nullptr, "f, sizes = [[2, 3], [", ""},
        {"a list with a word", nullptr, "f, sizes = [[2, x]]", ""},
        {"a list of lists of lists", nullptr, "f, sizes = [[[2]]]", ""},
        {"pairs that are none", nullptr, "f, input_op_ids = [(3)]", ""},
        {"no name before the fields", nullptr, ", seq = 12", ""},
        {"a word", nullptr, "frame 12", ""},
        {"nothing", nullptr, "", ""},
        {"a prefix without a name", nullptr, "aten::", ""},
        {"a name with other characters", nullptr, "aten::add'; DROP TABLE x", ""},
        {"bytes that are no text", nullptr, "\xff\xfe\0, seq = 3"s, "PyTorch | \xff\xfe\0 | 3 | - | - | -"s},
        {"PyTorch's form in another domain", "app", "aten::add, seq = 12", ""},
        {"a layer", "TensorRT", "Conv_0 + Relu_1", "TensorRT | Conv_0 + Relu_1 | - | - | - | -"},
        {"a fused subgraph", "TensorRT", "{ForeignNode[/model/Add.../model/Mul_2]}",
         "TensorRT | {ForeignNode[/model/Add.../model/Mul_2]} | - | - | - | -"},
        {"pointwise fusion", "TensorRT", "PWN(PWN(Sigmoid_1), Mul_2)",
         "TensorRT | PWN(PWN(Sigmoid_1), Mul_2) | - | - | - | -"},
        {"a copy between layouts", "TensorRT", "Reformatting CopyNode for Input Tensor 0 to Conv_0",
         "TensorRT | Reformatting CopyNode for Input Tensor 0 to Conv_0 | - | - | - | -"},
        {"a plugin", "TensorRT", "transformer/layers/0/attention/PLUGIN_V2_GPTAttention_0",
         "TensorRT | transformer/layers/0/attention/PLUGIN_V2_GPTAttention_0 | - | - | - | -"},
        {"a layer that PyTorch named", "TensorRT", "[ELEMENTWISE]-[aten_ops.add.Tensor]-[add]",
         "TensorRT | [ELEMENTWISE]-[aten_ops.add.Tensor]-[add] | - | - | - | -"},
        {"TensorRT's own call", "TensorRT", "ExecutionContext::enqueue", ""},
        {"TensorRT's own call, later", "TensorRT", "ExecutionContext::enqueueV3", ""},
        {"TensorRT's name in the default domain", nullptr, "Conv_0 + Relu_1", ""},
        {"no name", "TensorRT", "", ""},
    };
    return all;
}

TEST(OperatorNames, AreReadFromTheNamesThatFrameworksGiveAndFromNoOthers) {
    for (const Case& given : cases()) {
        const auto domain =
            given.domain == nullptr ? std::nullopt : std::optional<std::string_view>(given.domain);
        EXPECT_EQ(text_of(operator_of_range(domain, given.name)), given.expected) << given.about;
    }
}

TEST(OperatorNames, NoPartOfANameIsMoreThanItself) {
    const std::string whole =
        "aten::add, seq = 12, op_id = 34, sizes = [[2, 3], []], input_op_ids = [(3,0), (9,1)]";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto facts = operator_of_range(std::nullopt, std::string_view(whole).substr(0, length));
        EXPECT_TRUE(!facts || whole.starts_with(facts->operator_name)) << length;
    }
}

TEST(OperatorNames, LongHostileNamesTakeLittleTime) {
    std::string almost = "f";
    for (int i = 0; i < 5'000; ++i)
        almost += ", seq = 1";
    almost += "x";
    std::string list = "f, sizes = [[1";
    for (int i = 0; i < 20'000; ++i)
        list += ", 1";
    const std::string brackets = "f, sizes = " + std::string(65'000, '[');
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& name : {almost, list, brackets})
        EXPECT_FALSE(operator_of_range(std::nullopt, name));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
}

} // namespace
} // namespace deepjit::ingest
