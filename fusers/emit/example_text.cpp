#include "fusers/emit/emitted_texts.hpp"
#include "fusers/emit/text_template.hpp"
#include "fusers/verify/element_codec.hpp"
#include "fusers/verify/test_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace deepjit::emit {

namespace {

constexpr std::size_t kPeriod = 17;

std::string_view bits_type(graph::DType dtype) {
    switch (graph::size_bytes(dtype)) {
    case 1:
        return "std::uint8_t";
    case 2:
        return "std::uint16_t";
    case 4:
        return "std::uint32_t";
    default:
        break;
    }
    return "std::uint64_t";
}

/// Small multiples of a quarter, a value of every floating dtype, and different in each input.
graph::Values input_values(const Operand& operand, std::size_t number) {
    graph::Values values(operand.element_count == 1 ? 1 : kPeriod);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto step = static_cast<double>((5 * i + 3 * number) % kPeriod);
        values[i] =
            graph::round_to(operand.dtype, graph::is_floating(operand.dtype) ? step * 0.25 - 1.75 : step);
    }
    return values;
}

/// A table below the line that opens it.
std::string table_text(const std::string& opening, const std::vector<std::string>& items) {
    const std::string indented = broken_list("    ", items, "");
    return opening + " {\n" + indented + "};";
}

std::string bits_table(const Operand& operand, const graph::Values& values) {
    const std::vector<std::byte> bytes = verify::encode(values, operand.dtype, kPeriod);
    const std::size_t width = graph::size_bytes(operand.dtype);
    std::vector<std::string> items;
    for (std::size_t begin = 0; begin < bytes.size(); begin += width) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + begin, width);
        items.push_back(fmt::format("0x{:x}", bits));
    }
    const std::string opening =
        fmt::format("const {} {}_bits[kPeriod] =", bits_type(operand.dtype), operand.name);
    return fmt::format("// {}\n{}\n", type_text(operand), table_text(opening, items));
}

/// A check that a call went right, not the gate: a few roundings of the largest value.
double tolerance(const Emission& emission, const Operand& output, const graph::Values& expected) {
    double largest = 1;
    for (const double value : expected)
        largest = std::max(largest, std::fabs(value));
    double coarsest = graph::epsilon_of(output.dtype);
    for (const graph::Tensor& tensor : emission.chain.tensors)
        coarsest = std::max(coarsest, graph::epsilon_of(tensor.dtype));
    return coarsest * largest * static_cast<double>(emission.chain.ops.size() + 1);
}

std::string decoder(graph::DType dtype) {
    const std::string head =
        fmt::format("double value_of_{}({} bits) {{\n", graph::name_of(dtype), bits_type(dtype));
    switch (dtype) {
    case graph::DType::Float16:
        return head + "    const double sign = (bits & 0x8000) != 0 ? -1 : 1;\n"
                      "    const int exponent = bits >> 10 & 31;\n"
                      "    const int fraction = bits & 1023;\n"
                      "    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;\n"
                      "    if (exponent == 0) return sign * std::ldexp(fraction, -24);\n"
                      "    return sign * std::ldexp(1024 + fraction, exponent - 25);\n}\n";
    case graph::DType::BFloat16:
        return head + "    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;\n"
                      "    float value = 0;\n"
                      "    std::memcpy(&value, &wide, sizeof value);\n"
                      "    return value;\n}\n";
    case graph::DType::Bool:
    case graph::DType::UInt8:
        return head + "    return bits;\n}\n";
    default:
        break;
    }
    std::string_view type = "float";
    if (dtype == graph::DType::Float64) type = "double";
    if (dtype == graph::DType::Int8) type = "std::int8_t";
    if (dtype == graph::DType::Int32) type = "std::int32_t";
    if (dtype == graph::DType::Int64) type = "std::int64_t";
    return head + fmt::format("    {} value = 0;\n"
                              "    std::memcpy(&value, &bits, sizeof value);\n"
                              "    return static_cast<double>(value);\n}}\n",
                              type);
}

} // namespace

Result<std::string> example_text(const Emission& emission, const std::vector<Operand>& operands) {
    const std::vector<Operand> inputs = inputs_of(operands);
    const std::vector<Operand> outputs = outputs_of(operands);
    std::vector<graph::Values> values;
    for (const Operand& input : inputs)
        values.push_back(input_values(input, values.size()));
    const graph::ChainGraph one_period =
        verify::with_element_count(emission.chain, static_cast<std::int64_t>(kPeriod));
    DEEPJIT_TRY(const auto results, graph::interpret(one_period, values, graph::Arithmetic::Float64));

    std::string tables;
    std::string allocations;
    std::string comparisons;
    std::vector<graph::DType> decoded;
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        tables += bits_table(inputs[i], values[i]);
        allocations += fmt::format("    const CUdeviceptr {0} = upload({0}_bits, {1}, stream);\n",
                                   inputs[i].name, inputs[i].element_count);
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Operand& output = outputs[i];
        graph::Values expected = results[i];
        expected.resize(kPeriod, expected.empty() ? 0 : expected.front());
        std::vector<std::string> items;
        for (const double value : expected)
            items.push_back(fmt::format("{}", value));
        tables +=
            fmt::format("// {0} of those, in float64\n{1}\n", output.name,
                        table_text(fmt::format("const double {}_expected[kPeriod] =", output.name), items));
        allocations += fmt::format(
            "    CUdeviceptr {0} = 0;\n    check(cuMemAlloc(&{0}, {1}), \"cuMemAlloc\");\n", output.name,
            output.element_count * static_cast<std::int64_t>(graph::size_bytes(output.dtype)));
        comparisons += broken_list(fmt::format("    wrong += count_wrong<{}>(", bits_type(output.dtype)),
                                   {output.name, std::to_string(output.element_count), "stream",
                                    output.name + "_expected",
                                    fmt::format("{:.3g}", tolerance(emission, output, expected)),
                                    fmt::format("value_of_{}", graph::name_of(output.dtype))},
                                   ");\n");
        if (std::find(decoded.begin(), decoded.end(), output.dtype) == decoded.end())
            decoded.push_back(output.dtype);
    }
    std::string decoders;
    for (const graph::DType dtype : decoded)
        decoders += (decoders.empty() ? "" : "\n") + decoder(dtype);
    for (const Operand& operand : operands)
        arguments.push_back(fmt::format("{}({})", launch_cast(operand), operand.name));
    tables.pop_back();
    comparisons.pop_back();
    return fill_template(kExampleTemplate, {{"name", emission.name},
                                            {"period", fmt::format("{}", kPeriod)},
                                            {"tables", tables},
                                            {"decoders", decoders},
                                            {"allocations", allocations},
                                            {"call", launch_call(emission, arguments, "    ")},
                                            {"comparisons", comparisons}});
}

} // namespace deepjit::emit
