#include "cli/suggestion.hpp"

#include "src/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace deepjit::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        if (!command->get_group().empty()) names.push_back(command->get_name());
    return names;
}

std::vector<std::string> long_options(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string nearest = nearest_word(word, candidates);
    return nearest.empty() ? std::string() : fmt::format("did you mean '{}'? ", nearest);
}

/// The name before '=' of "--formt=json".
std::string option_name(const std::string& argument) {
    return argument.substr(0, argument.find('='));
}

/// CLI11 2.3's texts about a value, as sentences: "Could not convert: --chain = one",
/// "--format: xml not in {text,json}", "--serial: 1 required TIME missing".
std::string in_our_words(const CLI::ParseError& error) {
    const std::string text = error.what();
    constexpr std::string_view kNotConverted = "Could not convert: ";
    if (const std::size_t equals = text.find(" = "); text.starts_with(kNotConverted) && equals != text.npos)
        return fmt::format("{} cannot be '{}'",
                           text.substr(kNotConverted.size(), equals - kNotConverted.size()),
                           printable(text.substr(equals + 3)));
    const std::size_t colon = text.find(": ");
    if (colon == text.npos) return text;
    const std::string option = text.substr(0, colon);
    constexpr std::string_view kNotAMember = " not in {";
    if (const std::size_t not_in = text.rfind(kNotAMember); not_in != text.npos && text.ends_with('}')) {
        std::string choices;
        for (const char c : text.substr(not_in + kNotAMember.size()))
            if (c != '}') choices += c == ',' ? std::string(", ") : std::string(1, c);
        return fmt::format("{} cannot be '{}': it is one of {}", option,
                           printable(text.substr(colon + 2, not_in - colon - 2)), choices);
    }
    if (text.find(": 1 required ") == colon && text.ends_with(" missing"))
        return fmt::format("{} needs a value", option);
    return text;
}

} // namespace

Diagnostic explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const CLI::App& scope = chosen.empty() ? app : *chosen.front();
    const std::string help =
        fmt::format("see 'deepjit {}--help'", chosen.empty() ? "" : scope.get_name() + " ");
    const std::vector<std::string> unexpected = app.remaining(true);
    if (!unexpected.empty()) {
        const std::string& word = unexpected.front();
        if (word.size() > 1 && word[0] == '-') {
            const std::string name = option_name(word);
            return usage_error(fmt::format("unknown option '{}'", name), {},
                               did_you_mean(name, long_options(scope)) + help);
        }
        if (chosen.empty())
            return usage_error(fmt::format("unknown command '{}'", word), {},
                               did_you_mean(word, command_names(app)) + help);
        return usage_error(fmt::format("unexpected argument '{}'", word), {}, help);
    }
    if (chosen.empty()) return usage_error("no command was given", {}, help);
    return usage_error(in_our_words(error), {}, help);
}

} // namespace deepjit::cli
