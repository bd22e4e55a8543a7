#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::codegen {

/// The helper functions and types that `body` uses, and those that they use, in an order that compiles.
std::string prelude_for(std::string_view body);

/// Every name that the prelude can define.
std::vector<std::string_view> prelude_names();

} // namespace deepjit::codegen
