#pragma once

#include "fusers/jit/compiler.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Reads what the compiler wrote. Pure text work.
namespace deepjit::jit {

/// Figures of each entry in the verbose output of ptxas.
std::vector<EntryResources> parse_resources(std::string_view log);

/// The log without ptxas' figures and without blank lines at its ends.
std::string without_figures(std::string_view log);

/// The first errors of the log as text for a person, each with the line of `source` that it points at:
/// "line 3: identifier "y" is undefined, at `int x = y;`". The log's beginning where it names no line.
std::string explain_errors(std::string_view log, std::string_view source, std::size_t most = 3);

} // namespace deepjit::jit
