#pragma once

#include "fusers/verify/numeric_gate.hpp"
#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"
#include "src/graph/interpreter.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// What kernels are run on before they are believed.
namespace deepjit::verify {

/// Contents of the inputs and how their addresses are shifted.
///
/// The values repeat every `period` elements, so that a kernel of any size is checked in every element
/// against references of `period` elements. The period is prime to every block and vector width.
struct TestCase {
    std::string name; ///< "random", "specials", "large offsets", …
    std::size_t period = 0;
    /// In the order of ChainGraph::inputs. `period` values, or one for an input of one element.
    std::vector<graph::Values> inputs;
    /// Elements by which each pointer (inputs, then outputs) is moved off its 256-byte alignment.
    std::vector<int> shift_elements;
};

/// Random normal values; ±0, denormals, infinities, NaN, extremes and ties in all combinations; large offsets
/// with small differences; equal values; then the random case with all bases shifted and with only the last
/// shifted. The same chain always gives the same cases. Values are values of their input's dtype.
/// Requires `check_elementwise`.
std::vector<TestCase> test_cases(const graph::ChainGraph& chain);

/// The references for one case, one per output.
Result<std::vector<Expected>> expected_for(const graph::ChainGraph& chain, const TestCase& test_case);

/// The chain with every tensor that is not a single value given the shape [element_count]. For elementwise
/// chains this changes nothing but how many elements are computed.
graph::ChainGraph with_element_count(const graph::ChainGraph& chain, std::int64_t element_count);

/// Elements of the largest tensor, and an error unless every tensor has that many or one.
Result<std::int64_t> elementwise_count(const graph::ChainGraph& chain);

} // namespace deepjit::verify
