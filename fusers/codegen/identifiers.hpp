#pragma once

#include <set>
#include <string>
#include <string_view>

namespace deepjit::codegen {

/// Hands out C++ identifiers that are unique in one emitted file and clash with no keyword, CUDA built-in,
/// macro or name of the prelude.
class Identifiers {
  public:
    Identifiers();
    /// `wanted` may hold any bytes; the nearest free identifier is returned and taken.
    std::string take(std::string_view wanted);

  private:
    std::set<std::string> taken_;
};

} // namespace deepjit::codegen
