#include "cli/suggestion.hpp"

#include "src/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

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

/// "a, b, c" of "a,b,c".
std::string comma_list(std::string words) {
    for (std::size_t at = words.find(','); at != std::string::npos; at = words.find(',', at + 2))
        words.replace(at, 1, ", ");
    return words;
}

/// " from 0 to 1" of CLI11's " not in range 0.000000 to 1.000000" (2.1) and " not in range [0 - 1]" (2.4).
std::string range_in_words(const std::string& range) {
    double low = 0;
    double high = 0;
    if (std::sscanf(range.c_str(), " %lf to %lf", &low, &high) != 2 &&
        std::sscanf(range.c_str(), " [%lf - %lf]", &low, &high) != 2)
        return " in its range";
    return high < 1e300 ? fmt::format(" from {:g} to {:g}", low, high) : fmt::format(" above {:g}", low);
}

/// What is wrong with the value of an option; `text` is CLI11's, "--format: xml not in {text,json}".
std::string value_error(const std::string& text) {
    static constexpr std::string_view kNotConverted = "Could not convert: ";
    if (text.starts_with(kNotConverted)) {
        const std::string rest = text.substr(kNotConverted.size());
        const std::size_t equals = rest.find(" = ");
        if (equals == std::string::npos) return text;
        return fmt::format("{} cannot be '{}'", rest.substr(0, equals), rest.substr(equals + 3));
    }
    const std::size_t colon = text.find(": ");
    if (colon == std::string::npos) return text;
    const std::string option = text.substr(0, colon);
    const std::string problem = text.substr(colon + 2);
    if (const std::size_t at = problem.find(" not in {"); at != std::string::npos && problem.ends_with('}'))
        return fmt::format("{} cannot be '{}': it is one of {}", option, problem.substr(0, at),
                           comma_list(problem.substr(at + 9, problem.size() - at - 10)));
    if (const std::size_t at = problem.find(" not in range");
        at != std::string::npos && problem.starts_with("Value "))
        return fmt::format("{} takes a number{}, not '{}'", option, range_in_words(problem.substr(at + 13)),
                           problem.substr(6, at - 6));
    if (problem.ends_with(" missing")) return option + " needs a value";
    if (problem.starts_with("At Most 1 ")) return option + " was given more than once";
    if (problem == "Should be true/false or a number") return option + " takes no value";
    return text;
}

/// By code, because the name of an error may be that of the command it arose in.
bool has_code(const CLI::ParseError& error, CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
}

std::string sentence_of(const CLI::ParseError& error) {
    const std::string text = error.what();
    if (!has_code(error, CLI::ExitCodes::RequiredError)) return value_error(text);
    const std::string name = text.substr(0, text.find(" is required"));
    return name.starts_with('-') ? text : fmt::format("no {} was given", name);
}

/// The name before '=' of "--formt=json".
std::string option_name(const std::string& argument) {
    return argument.substr(0, argument.find('='));
}

} // namespace

Diagnostic explain_parse_error(const CLI::App& app, const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const CLI::App& scope = chosen.empty() ? app : *chosen.front();
    const std::string help =
        fmt::format("see 'deepjit {}--help'", chosen.empty() ? "" : scope.get_name() + " ");
    std::vector<std::string> unexpected = app.remaining(true);
    std::erase(unexpected, "--"); // a separator, which CLI11 leaves where nothing follows it
    // An error about a value stops the reading, so that what remains may well be known.
    const bool all_was_read =
        has_code(error, CLI::ExitCodes::ExtrasError) || has_code(error, CLI::ExitCodes::RequiredError);
    if (all_was_read && !unexpected.empty()) {
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
    if (chosen.empty() && all_was_read) return usage_error("no command was given", {}, help);
    return usage_error(sentence_of(error), {}, help);
}

} // namespace deepjit::cli
