#include "fusers/lift/template_arguments.hpp"

namespace deepjit::lift {
namespace {

std::string trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return std::string(text);
}

} // namespace

std::vector<std::string> template_arguments(std::string_view text, std::string_view name) {
    const std::string opening = std::string(name) + "<";
    const std::size_t at = text.find(opening);
    if (at == std::string_view::npos) return {};
    std::vector<std::string> arguments;
    std::size_t start = at + opening.size();
    int depth = 0;
    for (std::size_t i = start; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
        // "operator()" and "->" do not occur at the top level of ATen's kernel arguments.
        if (c == '>' && depth == 0) {
            arguments.push_back(trimmed(text.substr(start, i - start)));
            return arguments;
        }
        if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
        if (c == ',' && depth == 0) {
            arguments.push_back(trimmed(text.substr(start, i - start)));
            start = i + 1;
        }
        if (depth < 0) return {};
    }
    return {};
}

std::string without_aten_namespaces(std::string_view text) {
    std::string out(text);
    for (const std::string_view noise : {"at::native::", "(anonymous namespace)::"})
        for (std::size_t at = out.find(noise); at != std::string::npos; at = out.find(noise, at))
            out.erase(at, noise.size());
    return out;
}

} // namespace deepjit::lift
