#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::model {

/// What a person would call the kernel in one or two words: the function's base name, but for an ATen
/// elementwise kernel the op inside its functor ("add", "clamp_scalar", "Mul"). Bytes as the program gave
/// them.
std::string kernel_label(std::string_view demangled);

/// "add, clamp_scalar, Mul, add" or "scale x 30": labels in order, runs of equal ones counted.
std::string join_labels(const std::vector<std::string>& labels);

} // namespace deepjit::model
