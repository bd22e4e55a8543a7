#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace deepjit::lift {

/// The top-level template arguments of the first `name<...>` in `text`, blanks trimmed; empty where there is
/// none or the brackets do not close.
std::vector<std::string> template_arguments(std::string_view text, std::string_view name);

/// `text` without `at::native::` and `(anonymous namespace)::`, which differ between versions.
std::string without_aten_namespaces(std::string_view text);

} // namespace deepjit::lift
