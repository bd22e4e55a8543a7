#include "cli/help.hpp"

#include "src/base/text.hpp"

#include <algorithm>

namespace deepjit::cli {
namespace {

constexpr std::size_t kNameColumns = 26;
constexpr std::size_t kNarrowestHelp = kNameColumns + 24;

} // namespace

std::string help_footer(std::string_view examples) {
    std::string footer = "Examples:";
    while (!examples.empty()) {
        const std::size_t end = std::min(examples.find('\n'), examples.size());
        footer += "\n  ";
        footer += examples.substr(0, end);
        examples.remove_prefix(std::min(end + 1, examples.size()));
    }
    return footer;
}

HelpFormatter::HelpFormatter(std::size_t columns) : columns_(std::max(columns, kNarrowestHelp)) {
    column_width(kNameColumns);
    label("Positionals", "Arguments");
}

/// CLI11 indents what follows a newline in the right column.
std::string HelpFormatter::in_right_column(const std::string& description) const {
    return wrap_words(description, columns_ - kNameColumns, columns_ - kNameColumns);
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
    return wrap_words(app->get_description(), columns_, columns_) + "\n";
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
    std::string usage = "Usage: " + (app->get_parent() != nullptr ? "deepjit " + app->get_name() : name);
    if (app->get_parent() == nullptr) return usage + " COMMAND [options]\n";
    usage += " [options]";
    for (const CLI::Option* option : app->get_options())
        if (option->get_positional()) usage += " " + make_option_usage(option);
    return usage + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    // CLI11 would add the type's name, the default and the excluded options; the description says what
    // matters.
    if (option->get_items_expected_max() == 0 || option->get_positional()) return {};
    const std::string checked_type = option->get_type_name();
    const std::string type = checked_type.substr(0, checked_type.find(':'));
    std::string text = type.empty() ? std::string() : " " + type;
    if (!option->get_default_str().empty()) text += " (" + option->get_default_str() + ")";
    return text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    return in_right_column(option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), in_right_column(command->get_description()),
                             kNameColumns);
    return out.str();
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
    const std::string footer = app->get_footer();
    return footer.empty() ? footer : footer + "\n";
}

} // namespace deepjit::cli
