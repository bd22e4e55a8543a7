#include "src/model/kernel_label.hpp"

#include "src/base/text.hpp"
#include "src/model/kernel_signature.hpp"

#include <fmt/format.h>

#include <cctype>

namespace deepjit::model {
namespace {

void strip_suffix(std::string& text, std::string_view suffix) {
    if (text.ends_with(suffix) && text.size() > suffix.size()) text.resize(text.size() - suffix.size());
}

/// The identifier that ends just before `end`.
std::string identifier_before(std::string_view text, std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 &&
           (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '_'))
        --begin;
    return std::string(text.substr(begin, end - begin));
}

/// "Mul" of AUnaryFunctor<…, MulFunctor<float>>: the innermost functor names the op, the outer ones only say
/// which operand is a scalar.
std::string op_of_functor(std::string_view functor) {
    if (const std::size_t op = functor.find("CUDAFunctor"); op != std::string_view::npos) {
        // CUDAFunctor_add, CUDAFunctorOnSelf_add, CUDAFunctorOnOther_add
        const std::size_t underscore = functor.find('_', op);
        const std::size_t end = functor.find('<', op);
        if (underscore != std::string_view::npos && end != std::string_view::npos && underscore < end)
            return std::string(functor.substr(underscore + 1, end - underscore - 1));
    }
    constexpr std::string_view kFunctor = "Functor";
    if (const std::size_t last = functor.rfind(kFunctor); last != std::string_view::npos) {
        const std::string name = identifier_before(functor, last);
        if (!name.empty()) return name;
    }
    // A lambda is named by the function that holds it: "launch_clamp_scalar(...)::{lambda()#1}::...".
    if (const std::size_t lambda = functor.find("::{lambda"); lambda != std::string_view::npos) {
        std::string name = base_name_of_function(functor.substr(0, lambda));
        strip_suffix(name, "_cuda");
        strip_suffix(name, "_kernel");
        if (name.starts_with("launch_")) name.erase(0, std::string_view("launch_").size());
        return name;
    }
    return base_name_of_function(functor);
}

} // namespace

std::string kernel_label(std::string_view demangled) {
    const KernelSignature signature = parse_kernel_signature(demangled);
    const AtenElementwise aten = parse_aten_elementwise(signature);
    if (aten.layout != AtenLayout::None && !aten.functor.empty()) {
        std::string label = op_of_functor(aten.functor);
        if (!label.empty()) return label;
    }
    return base_name_of_function(demangled);
}

std::string join_labels(const std::vector<std::string>& labels) {
    std::string out;
    for (std::size_t i = 0; i < labels.size();) {
        std::size_t run = 1;
        while (i + run < labels.size() && labels[i + run] == labels[i])
            ++run;
        if (!out.empty()) out += ", ";
        out += run == 1 ? labels[i] : fmt::format("{} x {}", labels[i], run);
        i += run;
    }
    return out;
}

} // namespace deepjit::model
