#include "cli/help.hpp"

namespace deepjit::cli {

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

HelpFormatter::HelpFormatter() {
    column_width(26);
    label("Positionals", "Arguments");
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

std::string HelpFormatter::make_footer(const CLI::App* app) const {
    const std::string footer = app->get_footer();
    return footer.empty() ? footer : footer + "\n";
}

} // namespace deepjit::cli
