#pragma once

#include <map>
#include <string>
#include <string_view>

/// Texts with @placeholders@ (templates/), and how they are filled.
namespace deepjit::emit {

extern const std::string_view kLauncherHeaderTemplate;
extern const std::string_view kLauncherSourceTemplate;
extern const std::string_view kExampleTemplate;
extern const std::string_view kCMakeListsTemplate;
extern const std::string_view kTorchModuleTemplate;
extern const std::string_view kReadmeTemplate;

using Substitutions = std::map<std::string, std::string, std::less<>>;

/// Replaces each @word@ by its value, once: values are not searched again. A line that holds only a
/// placeholder whose value is empty goes away. A placeholder without a value is a mistake of ours
/// (assertion).
std::string fill_template(std::string_view text, const Substitutions& values);

} // namespace deepjit::emit
