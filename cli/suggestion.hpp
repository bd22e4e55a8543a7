#pragma once

#include "src/base/result.hpp"

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace deepjit::cli {

/// A parse error of CLI11 in our words: which argument, what was probably meant, where the help is.
Diagnostic explain_parse_error(const CLI::App& app, const CLI::ParseError& error);

} // namespace deepjit::cli
