#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

/// `opening`, the items with commas between them, `closing`. Lines are at most 100 columns, and the items of
/// later lines stand below those of the first.
std::string broken_list(std::string_view opening, const std::vector<std::string>& items,
                        std::string_view closing);

/// Python text in which lines of more than 110 columns are broken behind a comma or before an operator inside
/// brackets. Lines with a string in them stay as they are.
std::string broken_python(std::string_view text);

} // namespace deepjit::emit
