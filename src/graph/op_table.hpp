#pragma once

#include <string_view>
#include <vector>

namespace deepjit::graph {

/// `RoundTo` and `Open` (see Op) are structural and have no definition here.
inline constexpr std::string_view kRoundTo = "RoundTo";
inline constexpr std::string_view kOpen = "Open";

struct AttributeDefinition {
    std::string_view name;
    double default_value;
};

/// What an op's inputs and its output hold.
enum class Signature {
    Arithmetic, ///< floating inputs and output
    Comparison, ///< floating inputs, Bool output
    Logic,      ///< Bool inputs and output
    Select,     ///< Bool condition, then two floating inputs; floating output
};

/// An elementwise ONNX operator with one output. NaN and signed zeros follow PyTorch where ONNX is silent.
struct OpDefinition {
    std::string_view type;
    int input_count;
    std::vector<AttributeDefinition> attributes;
    Signature signature;
    /// One element in float64; `inputs` and `attributes` in the order of the definition.
    double (*evaluate)(const double* inputs, const double* attributes);
};

/// All elementwise ops. One entry an op; fusers/codegen has the matching text.
const std::vector<OpDefinition>& op_table();

/// The definition of `type`, or null.
const OpDefinition* find_op(std::string_view type);

} // namespace deepjit::graph
