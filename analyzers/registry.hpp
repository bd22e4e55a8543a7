#pragma once

#include "analyzers/evidence.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace deepjit::analyzers {

/// Says something about a trace; nothing where its rule does not apply.
struct Analyzer {
    std::string_view rule; ///< kebab-case, stable: the `rule` of its findings
    std::vector<model::Finding> (*run)(const Evidence& evidence);
};

/// In the order in which reports show them. A new analyzer is one line in registry.cpp.
std::span<const Analyzer> all_analyzers();

} // namespace deepjit::analyzers
