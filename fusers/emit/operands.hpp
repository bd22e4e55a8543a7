#pragma once

#include "fusers/emit/emission.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace deepjit::emit {

/// A parameter of the kernel as the emitted text names and describes it.
struct Operand {
    std::string name; ///< an identifier that is no keyword or reserved word of C++ or Python
    graph::DType dtype = graph::DType::Float32;
    std::vector<std::int64_t> shape;
    std::int64_t element_count = 0;
    std::int64_t vector_alignment_bytes = 16;
    bool is_output = false;
};

/// In launch order. An error when kernel and chain do not belong together.
Result<std::vector<Operand>> operands_of(const Emission& emission);

/// Operands with a name clash or a reserved name get '_' behind it.
std::string operand_name(const std::string& wanted, const std::vector<Operand>& taken);

/// "float32[2, 3]"
std::string type_text(const Operand& operand);
/// "a, b, c" of the inputs, outputs, or all.
std::string names_joined(const std::vector<Operand>& operands, const char* separator = ", ");
std::vector<Operand> inputs_of(const std::vector<Operand>& operands);
std::vector<Operand> outputs_of(const std::vector<Operand>& operands);

/// "one kernel for Add, Relu, Mul, Add": the chain's ops without roundings.
std::string summary_of(const Emission& emission);

/// What the launcher asks of its pointers: alignment, overlap, null. Sentences, on lines of at most 110
/// columns.
std::string pointer_rules(const Emission& emission, const std::vector<Operand>& operands);

/// The place in kernel.entries of the first entry that takes any pointers.
std::size_t general_entry(const codegen::GeneratedKernel& kernel);

/// Operands grouped by the alignment that their vector accesses need, largest first.
struct AlignmentGroup {
    std::int64_t alignment_bytes = 16;
    std::vector<std::string> names;
};
std::vector<AlignmentGroup> alignment_groups(const std::vector<Operand>& operands);

} // namespace deepjit::emit
