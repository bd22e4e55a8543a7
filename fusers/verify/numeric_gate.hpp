#pragma once

#include "src/graph/chain_graph.hpp"
#include "src/graph/interpreter.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The arithmetic of the gate, apart from any GPU.
namespace deepjit::verify {

/// What a computed value is judged against, element for element.
struct Expected {
    graph::Values exact;   ///< interpreter in Float64 arithmetic, not rounded
    graph::Values rounded; ///< interpreter in Rounded arithmetic: what the original kernels store
};

/// How far one output of one kernel lies from the expected values.
///
/// `error` is the largest |got − exact| ÷ max(|exact|, root mean square of all finite exact values): relative
/// for elements of ordinary size, and relative to the tensor for those that cancelled to almost nothing. It
/// is taken over the elements that are finite in both references. Integer and boolean outputs must equal
/// `rounded`; a difference is a mismatch, not an error.
struct OutputError {
    double error = 0;
    std::int64_t elements = 0;
    /// Elements that are NaN, +inf, −inf or finite where they must be something else, and unequal integers.
    std::int64_t mismatches = 0;
    std::int64_t first_mismatch = -1; ///< index of the first of them
    double first_mismatch_got = 0;
    double first_mismatch_expected = 0;
};

/// Compares `got` with references that repeat every `expected.exact.size()` elements (see TestCase). Where
/// the references disagree whether a value is finite (an intermediate overflowed only when rounded), Match
/// must follow `rounded`; Wide may follow either.
OutputError measure_error(const graph::Values& got, const Expected& expected, graph::DType dtype,
                          graph::Rounding rounding);

/// Joins the results of several runs: the worst error, the sum of the mismatches.
void merge(OutputError& total, const OutputError& more);

/// The margin by which the fused kernel's error may exceed the original's: one epsilon of the output's dtype.
double margin_for(graph::DType dtype);

struct GateResult {
    bool passed = false;
    std::string reason; ///< one sentence; also when passed
};

/// The gate for one output: no mismatch, and fused error at most the original's plus the margin. An original
/// that itself mismatches makes the comparison meaningless and fails too, with that as the reason.
GateResult judge(const OutputError& fused, const OutputError& original, graph::DType dtype,
                 const std::string& output_name);

} // namespace deepjit::verify
