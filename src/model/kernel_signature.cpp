#include "src/model/kernel_signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace deepjit::model {
namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

bool opens(char c) {
    return c == '<' || c == '(' || c == '{' || c == '[';
}
bool closes(char c) {
    return c == '>' || c == ')' || c == '}' || c == ']';
}

/// Position of the bracket that `close` ends, or npos.
std::size_t matching_open(std::string_view text, std::size_t close) {
    int depth = 0;
    for (std::size_t i = close + 1; i-- > 0;) {
        if (closes(text[i])) ++depth;
        if (opens(text[i]) && --depth == 0) return i;
    }
    return std::string_view::npos;
}

/// Position after the last `separator` that no bracket encloses, or 0.
std::size_t after_last_outer(std::string_view text, char separator) {
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
        if (closes(text[i])) ++depth;
        if (opens(text[i])) --depth;
        if (depth == 0 && text[i] == separator) return i + 1;
    }
    return 0;
}

bool ends_with_word(std::string_view text, std::string_view word) {
    if (!text.ends_with(word)) return false;
    const std::size_t before = text.size() - word.size();
    return before == 0 || text[before - 1] == ' ' || text[before - 1] == '*' || text[before - 1] == '&';
}

std::string_view without_qualifiers(std::string_view type) {
    type = trim(type);
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view word : {"const", "volatile", "__restrict__", "__restrict"})
            if (ends_with_word(type, word)) {
                type = trim(type.substr(0, type.size() - word.size()));
                again = true;
            }
    }
    return type;
}

/// Name and template arguments of a type such as "std::array<char*, 2ul>".
std::pair<std::string_view, std::vector<std::string_view>> split_template(std::string_view type) {
    type = trim(type);
    if (!type.ends_with('>')) return {type, {}};
    const std::size_t open = matching_open(type, type.size() - 1);
    if (open == std::string_view::npos) return {type, {}};
    return {type.substr(0, open), split_at_commas(type.substr(open + 1, type.size() - open - 2))};
}

std::string_view last_component(std::string_view qualified) {
    return qualified.substr(after_last_outer(qualified, ':'));
}

/// m of "std::array<char*, mul>" or "at::detail::Array<char*, m>", or 0.
std::uint32_t pointers_in_array(std::string_view type) {
    const auto [name, arguments] = split_template(type);
    const std::string_view base = last_component(name);
    if ((base != "array" && base != "Array") || arguments.size() != 2 || !is_pointer_type(arguments[0]))
        return 0;
    std::uint32_t count = 0;
    for (const char c : arguments[1]) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
        count = count * 10 + static_cast<std::uint32_t>(c - '0');
        if (count > 64) return 0; // more tensors than any ATen kernel takes
    }
    return count;
}

/// Types of a lambda's parameters: the last "{lambda(float, float)#1}" of the name.
std::vector<std::string_view> lambda_parameters(std::string_view functor) {
    constexpr std::string_view kLambda = "{lambda(";
    const std::size_t at = functor.rfind(kLambda);
    if (at == std::string_view::npos) return {};
    const std::size_t close = functor.find(")#", at);
    if (close == std::string_view::npos) return {};
    return split_at_commas(functor.substr(at + kLambda.size(), close - at - kLambda.size()));
}

/// Whether an ATen lambda may return another type than it takes. Its name does not hold the return type, so
/// that conversions and predicates have to be known.
bool may_change_type(std::string_view functor) {
    constexpr std::array<std::string_view, 9> kWords = {"float16_copy", "bfloat16_copy", "float8",
                                                        "logical_",     "isnan",         "isinf",
                                                        "signbit",      "compare",       "bool"};
    return std::any_of(kWords.begin(), kWords.end(),
                       [&](std::string_view word) { return functor.find(word) != std::string_view::npos; });
}

std::vector<std::string_view> element_types_of(std::string_view functor, std::uint32_t pointer_count) {
    const auto [name, arguments] = split_template(functor);
    const std::string_view base = last_component(name);
    if (base == "AUnaryFunctor" && arguments.size() == 4) return {arguments[2], arguments[1]};
    if (base == "BUnaryFunctor" && arguments.size() == 4) return {arguments[2], arguments[0]};
    if (base == "BinaryFunctor" && arguments.size() == 4) return {arguments[2], arguments[0], arguments[1]};
    if ((base.starts_with("CUDAFunctor") || base == "FillFunctor") && arguments.size() == 1)
        return std::vector<std::string_view>(pointer_count, arguments[0]);
    std::vector<std::string_view> types = lambda_parameters(functor);
    if (types.empty()) return {};
    const std::string_view result = functor.find("bfloat16_copy") != std::string_view::npos  ? "c10::BFloat16"
                                    : functor.find("float16_copy") != std::string_view::npos ? "c10::Half"
                                    : may_change_type(functor) ? std::string_view{}
                                                               : types.front();
    types.insert(types.begin(), result);
    return types;
}

} // namespace

std::vector<std::string_view> split_at_commas(std::string_view list) {
    std::vector<std::string_view> parts;
    if (trim(list).empty()) return parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (opens(list[i])) ++depth;
        if (closes(list[i])) --depth;
        if (list[i] == ',' && depth == 0) {
            parts.push_back(trim(list.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    parts.push_back(trim(list.substr(begin)));
    return parts;
}

KernelSignature parse_kernel_signature(std::string_view demangled) {
    KernelSignature signature;
    std::string_view head = trim(demangled);
    // "f(int) [clone .kd]": what follows the parameters is no part of the name.
    if (head.ends_with(']')) {
        const std::size_t clone = head.find(" [clone");
        if (clone != std::string_view::npos) head = trim(head.substr(0, clone));
    }
    if (head.ends_with(')')) {
        const std::size_t open = matching_open(head, head.size() - 1);
        if (open != std::string_view::npos && open > 0) {
            const std::string_view list = head.substr(open + 1, head.size() - open - 2);
            signature.has_parameters = list != "anonymous namespace";
            if (signature.has_parameters) {
                signature.parameters =
                    list == "void" ? std::vector<std::string_view>{} : split_at_commas(list);
                head = trim(head.substr(0, open));
            }
        }
    }
    auto [name, arguments] = split_template(head);
    signature.template_arguments = std::move(arguments);
    signature.qualified_name = name.substr(after_last_outer(name, ' '));
    signature.base_name = last_component(signature.qualified_name);
    return signature;
}

bool is_pointer_type(std::string_view type) {
    return without_qualifiers(type).ends_with('*');
}

std::string_view pointee_type(std::string_view pointer_type) {
    std::string_view pointer = without_qualifiers(pointer_type);
    if (pointer.ends_with('*')) pointer.remove_suffix(1);
    pointer = without_qualifiers(pointer);
    if (pointer.starts_with("const ")) pointer.remove_prefix(6);
    return trim(pointer);
}

bool is_pointer_to_const(std::string_view type) {
    std::string_view pointer = without_qualifiers(type);
    if (!pointer.ends_with('*')) return false;
    pointer.remove_suffix(1);
    pointer = trim(pointer);
    // "const float**" is a pointer to a writable pointer.
    return ends_with_word(pointer, "const") || (pointer.starts_with("const ") && !pointer.ends_with('*'));
}

std::optional<std::uint32_t> size_of_type(std::string_view type) {
    struct NamedSize {
        std::string_view name;
        std::uint32_t bytes;
    };
    constexpr std::array kSizes = {NamedSize{"float", 4},         NamedSize{"double", 8},
                                   NamedSize{"int", 4},           NamedSize{"unsigned int", 4},
                                   NamedSize{"long", 8},          NamedSize{"unsigned long", 8},
                                   NamedSize{"long long", 8},     NamedSize{"unsigned long long", 8},
                                   NamedSize{"short", 2},         NamedSize{"unsigned short", 2},
                                   NamedSize{"char", 1},          NamedSize{"signed char", 1},
                                   NamedSize{"unsigned char", 1}, NamedSize{"bool", 1},
                                   NamedSize{"c10::Half", 2},     NamedSize{"c10::BFloat16", 2},
                                   NamedSize{"__half", 2},        NamedSize{"__nv_bfloat16", 2},
                                   NamedSize{"half", 2},          NamedSize{"nv_bfloat16", 2},
                                   NamedSize{"float2", 8},        NamedSize{"float4", 16}};
    const std::string_view plain = without_qualifiers(type);
    for (const NamedSize& known : kSizes)
        if (known.name == plain) return known.bytes;
    return std::nullopt;
}

AtenElementwise parse_aten_elementwise(const KernelSignature& signature) {
    AtenElementwise aten;
    if (!signature.qualified_name.starts_with("at::native::")) return aten;
    const auto& arguments = signature.template_arguments;
    if (signature.base_name == "vectorized_elementwise_kernel" && arguments.size() >= 3) {
        aten.functor = arguments[1];
        aten.pointer_count = pointers_in_array(arguments[2]);
        if (aten.pointer_count != 0) aten.layout = AtenLayout::Vectorized;
    } else if (signature.base_name == "unrolled_elementwise_kernel" && arguments.size() >= 2) {
        aten.functor = arguments[0];
        aten.pointer_count = pointers_in_array(arguments[1]);
        if (aten.pointer_count != 0) aten.layout = AtenLayout::Unrolled;
    } else if (signature.base_name == "elementwise_kernel" && arguments.size() >= 3) {
        aten.functor = arguments[2];
        aten.layout = AtenLayout::Closure;
    }
    const bool casts = aten.layout == AtenLayout::Unrolled &&
                       std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
                           return argument.ends_with("LoadWithCast") ||
                                  argument.find("LoadWithCast<") != std::string_view::npos;
                       });
    if (aten.layout == AtenLayout::Vectorized || (aten.layout == AtenLayout::Unrolled && !casts))
        aten.element_types = element_types_of(aten.functor, aten.pointer_count);
    if (aten.element_types.size() != aten.pointer_count) aten.element_types.clear();
    return aten;
}

bool is_library_kernel(std::string_view demangled) {
    const std::string_view qualified = parse_kernel_signature(demangled).qualified_name;
    std::string name(qualified);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 14> kWords = {
        "gemm", "gemv", "cutlass", "cudnn",  "cublas",   "nccl",  "flash",
        "fmha", "xmma", "nvjet",   "splitk", "winograd", "cufft", "attention"};
    for (const std::string_view word : kWords)
        if (name.find(word) != std::string::npos) return true;
    // "conv" is a convolution unless it begins "convert" or "conversion".
    for (std::size_t at = name.find("conv"); at != std::string::npos; at = name.find("conv", at + 1))
        if (name.compare(at, 6, "conver") != 0) return true;
    return false;
}

} // namespace deepjit::model
