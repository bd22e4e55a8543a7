#include "fusers/codegen/identifiers.hpp"

#include "fusers/codegen/prelude.hpp"
#include "src/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deepjit::codegen {
namespace {

constexpr std::array kKeywords{
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

/// CUDA built-ins that emitted code uses, names of its own locals, and macros of compilers.
constexpr std::array kUsedNames{
    "threadIdx", "blockIdx", "blockDim",    "gridDim", "warpSize", "dim3",  "uint4", "uint2", "float4",
    "fabsf",     "expf",     "logf",        "sqrtf",   "rsqrtf",   "erff",  "powf",  "tanhf", "sinf",
    "cosf",      "floorf",   "ceilf",       "rintf",   "expm1f",   "fmaxf", "fminf", "group", "first",
    "i",         "k",        "first_group", "Index",   "from",     "to",    "unix",  "linux", "main",
    "asm",       "half",     "max",         "min",     "abs",      "exp",   "log",   "sqrt",  "pow",
    "assert",    "printf",   "y0",          "y1",      "yn",       "j0",    "j1",    "jn",    "signgam"};

bool is_reserved_form(const std::string& name) {
    const bool leads_with_underscore = name[0] == '_';
    // Compilers define macros in capitals; every macro of CUDA's built-in headers has two letters or more.
    const bool all_capitals = name.size() > 1 && std::none_of(name.begin(), name.end(),
                                                              [](char c) { return c >= 'a' && c <= 'z'; });
    return leads_with_underscore || all_capitals || name.find("__") != std::string::npos ||
           name.rfind("kElement", 0) == 0 || name.rfind("kGroup", 0) == 0 || name.rfind("kTail", 0) == 0 ||
           name.rfind("DEEPJIT", 0) == 0 || name.rfind("deepjit", 0) == 0;
}

std::string without_reserved_form(std::string name) {
    if (!is_reserved_form(name)) return name;
    std::string out = "t_";
    for (const char c : name)
        if (c != '_' || out.back() != '_') out += c;
    return out;
}

} // namespace

Identifiers::Identifiers() {
    taken_.insert(kKeywords.begin(), kKeywords.end());
    taken_.insert(kUsedNames.begin(), kUsedNames.end());
    for (const auto name : prelude_names())
        taken_.emplace(name);
}

std::string Identifiers::take(std::string_view wanted) {
    const std::string base = without_reserved_form(to_identifier(wanted.substr(0, 60)));
    std::string name = base;
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", number);
    return name;
}

} // namespace deepjit::codegen
