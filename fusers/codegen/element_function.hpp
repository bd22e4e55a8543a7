#pragma once

#include "fusers/codegen/identifiers.hpp"
#include "fusers/plan/fusion_plan.hpp"

#include <string>
#include <vector>

namespace deepjit::codegen {

/// The `__device__` function that computes one element of the chain: inputs by value, outputs by reference,
/// in the order of the plan's operands and in their stored types.
struct ElementFunction {
    std::string name;
    std::string text;
};

/// `operand_names` holds one identifier for each operand of the plan.
ElementFunction element_function(const plan::FusionPlan& plan, const std::vector<std::string>& operand_names,
                                 Identifiers& identifiers);

/// The stored type of a dtype in emitted code: float, float16 or bfloat16.
std::string stored_type(graph::DType dtype);

} // namespace deepjit::codegen
