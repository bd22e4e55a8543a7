#pragma once

#include <string_view>

/// Texts of the .sql files of this folder (deepjit_embed in CMakeLists.txt).
namespace deepjit::trace {

extern const std::string_view kSchemaSql;
extern const std::string_view kIndexesSql;
extern const std::string_view kViewsSql;

} // namespace deepjit::trace
