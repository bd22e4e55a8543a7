#include "fusers/emit/operands.hpp"

#include "src/base/text.hpp"
#include "src/graph/op_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>

namespace deepjit::emit {

namespace {

constexpr auto kCppWords = std::to_array<std::string_view>({"alignas",
                                                            "alignof",
                                                            "and",
                                                            "and_eq",
                                                            "asm",
                                                            "auto",
                                                            "bitand",
                                                            "bitor",
                                                            "bool",
                                                            "break",
                                                            "case",
                                                            "catch",
                                                            "char",
                                                            "char16_t",
                                                            "char32_t",
                                                            "char8_t",
                                                            "class",
                                                            "co_await",
                                                            "co_return",
                                                            "co_yield",
                                                            "compl",
                                                            "concept",
                                                            "const",
                                                            "const_cast",
                                                            "consteval",
                                                            "constexpr",
                                                            "constinit",
                                                            "continue",
                                                            "decltype",
                                                            "default",
                                                            "delete",
                                                            "do",
                                                            "double",
                                                            "dynamic_cast",
                                                            "else",
                                                            "enum",
                                                            "explicit",
                                                            "export",
                                                            "extern",
                                                            "false",
                                                            "float",
                                                            "for",
                                                            "friend",
                                                            "goto",
                                                            "if",
                                                            "inline",
                                                            "int",
                                                            "long",
                                                            "mutable",
                                                            "namespace",
                                                            "new",
                                                            "noexcept",
                                                            "not",
                                                            "not_eq",
                                                            "nullptr",
                                                            "operator",
                                                            "or",
                                                            "or_eq",
                                                            "private",
                                                            "protected",
                                                            "public",
                                                            "register",
                                                            "reinterpret_cast",
                                                            "requires",
                                                            "restrict",
                                                            "return",
                                                            "short",
                                                            "signed",
                                                            "sizeof",
                                                            "static",
                                                            "static_assert",
                                                            "static_cast",
                                                            "struct",
                                                            "switch",
                                                            "template",
                                                            "this",
                                                            "thread_local",
                                                            "throw",
                                                            "true",
                                                            "try",
                                                            "typedef",
                                                            "typeid",
                                                            "typename",
                                                            "union",
                                                            "unsigned",
                                                            "using",
                                                            "virtual",
                                                            "void",
                                                            "volatile",
                                                            "wchar_t",
                                                            "while",
                                                            "xor",
                                                            "xor_eq"});

constexpr auto kPythonWords = std::to_array<std::string_view>(
    {"False",    "None",   "True",   "and",  "as",     "assert", "async",    "await", "break", "class",
     "continue", "def",    "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",
     "if",       "import", "in",     "is",   "lambda", "match",  "nonlocal", "not",   "or",    "pass",
     "print",    "raise",  "return", "try",  "type",   "while",  "with",     "yield"});

/// Names that the emitted texts use themselves, and those of the systems they live in.
constexpr auto kTakenWords = std::to_array<std::string_view>(
    {"std",      "main",   "linux",         "unix",    "launch",      "prepare",       "load",
     "fail",     "torch",  "ctypes",        "os",      "sys",         "threading",     "types",
     "self",     "device", "stream",        "status",  "launcher",    "addresses",     "call",
     "function", "kernel", "arguments",     "error",   "result",      "wrong",         "context",
     "check",    "upload", "element_count", "aligned", "grid_blocks", "block_threads", "side_stream",
     "example",  "test",   "all",           "install", "clean",       "help",          "frozenset",
     "getattr",  "zip",    "range",         "len",     "str",         "list",          "tuple",
     "bytes",    "open",   "isinstance",    "cuda",    "library",     "registry",      "held",
     "errno",    "stdin",  "stdout",        "stderr",  "NULL",        "assert",        "signal",
     "buffers",  "Buffer", "Image",         "Entry",   "overlap",     "LoadedKernel",  "check_buffers",
     "period",   "count",  "kPeriod",       "kImages", "kEntries",    "kElementCount", "deepjit"});

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_reserved(std::string_view name) {
    // Names with '__', or '_' and a capital, belong to the C++ implementation; with a leading '_' to the
    // module; with '_t' at the end to POSIX; with 'cu' or 'CU' in front to CUDA.
    return contains(kCppWords, name) || contains(kPythonWords, name) || contains(kTakenWords, name) ||
           name.starts_with('_') || name.find("__") != std::string_view::npos || name.ends_with("_t") ||
           name.starts_with("cu") || name.starts_with("CU");
}

std::string without_underscore_runs(std::string_view text) {
    std::string cleaned;
    for (const char c : text)
        if (c != '_' || (!cleaned.empty() && cleaned.back() != '_')) cleaned += c;
    while (!cleaned.empty() && cleaned.back() == '_')
        cleaned.pop_back();
    return cleaned;
}

} // namespace

std::string emitted_name(std::string_view wanted) {
    constexpr std::size_t kLongest = 100; // file names append to it
    std::string name = without_underscore_runs(to_identifier(wanted)).substr(0, kLongest);
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name = "chain_" + name;
    name = without_underscore_runs(name);
    return is_reserved(name) ? name + "_kernel" : name;
}

std::string operand_name(const std::string& wanted, const std::vector<Operand>& taken) {
    const auto is_taken = [&](const std::string& name) {
        return is_reserved(name) || std::any_of(taken.begin(), taken.end(),
                                                [&](const Operand& operand) { return operand.name == name; });
    };
    const std::string cleaned = without_underscore_runs(to_identifier(wanted));
    std::string name =
        cleaned.empty() || (cleaned.front() >= '0' && cleaned.front() <= '9') ? "t" + cleaned : cleaned;
    if (is_taken(name)) name += "_tensor";
    const std::string stem = name;
    for (int number = 2; is_taken(name); ++number)
        name = fmt::format("{}_{}", stem, number);
    return name;
}

Result<std::vector<Operand>> operands_of(const Emission& emission) {
    std::vector<graph::TensorIndex> tensors = emission.chain.inputs;
    tensors.insert(tensors.end(), emission.chain.outputs.begin(), emission.chain.outputs.end());
    const auto& parameters = emission.kernel.parameters;
    if (tensors.size() != parameters.size())
        return failure(fmt::format("the kernel of '{}' has {} parameters and its chain {} inputs and outputs",
                                   emission.kernel.name, parameters.size(), tensors.size()));
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const graph::Tensor& tensor = emission.chain.tensor(tensors[i]);
        Operand operand;
        operand.name = operand_name(tensor.name, operands);
        while (operand.name == emission.name)
            operand.name += "_tensor";
        operand.dtype = tensor.dtype;
        operand.shape = tensor.shape;
        operand.element_count = tensor.element_count();
        operand.vector_alignment_bytes = parameters[i].vector_alignment_bytes;
        operand.is_output = parameters[i].is_output;
        operands.push_back(std::move(operand));
    }
    return operands;
}

std::string type_text(const Operand& operand) {
    return fmt::format("{}[{}]", graph::name_of(operand.dtype), fmt::join(operand.shape, ", "));
}

std::string names_joined(const std::vector<Operand>& operands, const char* separator) {
    std::string joined;
    for (const Operand& operand : operands)
        joined += (joined.empty() ? "" : separator) + operand.name;
    return joined;
}

std::vector<Operand> inputs_of(const std::vector<Operand>& operands) {
    std::vector<Operand> inputs;
    for (const Operand& operand : operands)
        if (!operand.is_output) inputs.push_back(operand);
    return inputs;
}

std::vector<Operand> outputs_of(const std::vector<Operand>& operands) {
    std::vector<Operand> outputs;
    for (const Operand& operand : operands)
        if (operand.is_output) outputs.push_back(operand);
    return outputs;
}

std::string summary_of(const Emission& emission) {
    constexpr std::size_t kMostOps = 8;
    std::vector<std::string> types;
    for (const graph::Op& op : emission.chain.ops)
        if (op.type != graph::kRoundTo) types.push_back(to_identifier(op.type));
    std::vector<std::string> runs; // "Add x 3" for equal ones in a row
    std::size_t named = 0;
    while (named < types.size() && runs.size() < kMostOps) {
        std::size_t end = named;
        while (end < types.size() && types[end] == types[named])
            ++end;
        runs.push_back(end - named == 1 ? types[named] : fmt::format("{} x {}", types[named], end - named));
        named = end;
    }
    std::string text = fmt::format("one CUDA kernel for {}", fmt::join(runs, ", "));
    if (named < types.size()) text += fmt::format(" and {} more", types.size() - named);
    return text;
}

std::string pointer_rules(const Emission& emission, const std::vector<Operand>& operands) {
    std::string text = "No pointer may be null, and each must be a multiple of its element's size";
    const std::size_t general = general_entry(emission.kernel);
    const std::vector<AlignmentGroup> groups = alignment_groups(operands);
    if (general == 0 || groups.empty()) {
        text += ": the kernel moves single elements. ";
    } else {
        std::vector<std::string> wanted;
        for (const AlignmentGroup& group : groups)
            wanted.push_back(groups.size() == 1 ? fmt::format("{} bytes", group.alignment_bytes)
                                                : fmt::format("{} bytes ({})", group.alignment_bytes,
                                                              fmt::join(group.names, ", ")));
        text += fmt::format(
            ". Where all are multiples of {}, `{}` runs, which moves that much at once; otherwise "
            "`{}`, which computes the same and is slower. ",
            join_words(wanted), emission.kernel.entries.front().name, emission.kernel.entries[general].name);
    }
    text +=
        emission.kernel.operands_may_alias
            ? "An output may be exactly the buffer of an input; otherwise it must not overlap an input or "
              "another output. "
            : "An output must not overlap an input or another output. ";
    text += "What breaks a rule is refused with a sentence and launches nothing.";
    return wrap_words(text, 106, 106);
}

std::size_t general_entry(const codegen::GeneratedKernel& kernel) {
    for (std::size_t i = 0; i < kernel.entries.size(); ++i)
        if (!kernel.entries[i].needs_vector_alignment) return i;
    return kernel.entries.size() - 1;
}

std::vector<AlignmentGroup> alignment_groups(const std::vector<Operand>& operands) {
    std::map<std::int64_t, std::vector<std::string>, std::greater<>> by_alignment;
    for (const Operand& operand : operands)
        if (operand.vector_alignment_bytes > 1)
            by_alignment[operand.vector_alignment_bytes].push_back(operand.name);
    std::vector<AlignmentGroup> groups;
    for (auto& [alignment, names] : by_alignment)
        groups.push_back({alignment, std::move(names)});
    return groups;
}

} // namespace deepjit::emit
