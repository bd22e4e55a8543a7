#pragma once

#include "src/graph/chain_graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::codegen {

/// The parts that an op's C++ expression is made of.
struct OpTextParts {
    std::vector<std::string> operands;   ///< each an identifier, a literal or in parentheses
    std::vector<std::string> attributes; ///< literals, in the order of the op's definition
    std::vector<double> attribute_values;
    /// The product must be rounded by itself: it may not be contracted with an addition of another kernel.
    bool round_product = false;
};

struct OpText {
    std::string_view type;
    bool is_product = false; ///< a compiler may contract it into an addition that uses it
    bool adds_input = false; ///< it begins with adding an input, into which a product may be contracted
    std::string (*expression)(const OpTextParts& parts);
};

/// The text of an op of graph::op_table(), or null. Every op of that table has one.
const OpText* find_op_text(std::string_view type);

/// Attributes of `op` as the definition orders them, defaults filled in.
void set_attributes(const graph::Op& op, OpTextParts& parts);

/// A float literal that reads back as exactly `value` rounded to float32; negative ones in parentheses.
std::string float_literal(double value);

} // namespace deepjit::codegen
