#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::codegen {

/// The helper functions and types that `body` uses, and those that they use, in an order that compiles.
/// `vector_bytes`, 16 or 8, is the width of one access of `Vector`.
std::string prelude_for(std::string_view body, int vector_bytes);

/// Every name that the prelude can define.
std::vector<std::string_view> prelude_names();

} // namespace deepjit::codegen
