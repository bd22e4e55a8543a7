#include "cli/fuse_input.hpp"

#include "analyzers/advise.hpp"
#include "fusers/lift/lift_chain.hpp"
#include "src/base/files.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/model/trace_data.hpp"
#include "src/trace/trace.hpp"

#include <fmt/format.h>

#include <fstream>

namespace deepjit::cli {

namespace {

enum class InputKind { Trace, ChainFile, Unknown };

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

Result<InputKind> sniff(const std::filesystem::path& path) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code))
        return usage_error(fmt::format("'{}' is a folder", printable(path.string())), {},
                           "give a trace.db or a chain.json");
    std::ifstream file(path, std::ios::binary);
    if (!file) return read_file(path).error(); // says why
    std::string head(512, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(file.gcount()));
    if (head.starts_with(kSqliteMagic)) return InputKind::Trace;
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    return first != std::string::npos && head[first] == '{' ? InputKind::ChainFile : InputKind::Unknown;
}

std::string list_of_chains(const model::Report& report) {
    constexpr std::size_t kMostListed = 10;
    if (report.chains.empty()) return "the trace holds no chain of short kernels";
    std::vector<std::string> items;
    for (const model::ChainAdvice& advice : report.chains) {
        if (items.size() == kMostListed) break;
        const auto& steps = advice.chain.steps;
        items.push_back(fmt::format("{} ({} kernels, {} to {})", advice.chain.number, steps.size(),
                                    printable(base_name_of_function(steps.front().name)),
                                    printable(base_name_of_function(steps.back().name))));
    }
    std::string text = "the trace holds the chains " + join_words(items);
    if (report.chains.size() > kMostListed)
        text += fmt::format(", and {} more", report.chains.size() - kMostListed);
    return text;
}

Result<FuseInput> lift_from_trace(const std::filesystem::path& path, std::optional<int> chain_number) {
    DEEPJIT_TRY(const auto trace, trace::Trace::open(path));
    DEEPJIT_TRY(const auto data, model::load_trace_data(trace));
    const model::Report report = analyzers::advise(data);
    if (!chain_number)
        return usage_error(
            "a trace needs --chain N", list_of_chains(report),
            fmt::format("`deepjit advise {}` shows what each is worth", printable(path.string())));
    const model::ChainAdvice* advice = report.chain(*chain_number);
    if (advice == nullptr)
        return usage_error(
            fmt::format("there is no chain {}", *chain_number), list_of_chains(report),
            fmt::format("`deepjit advise {}` shows what each is worth", printable(path.string())));
    const std::string name = fmt::format("chain_{}", *chain_number);
    DEEPJIT_TRY(auto lifted, lift::lift_chain(trace, advice->chain, name));
    return FuseInput{std::move(lifted.chain), name, true};
}

} // namespace

Result<FuseInput> read_fuse_input(const std::filesystem::path& path, std::optional<int> chain_number) {
    DEEPJIT_TRY(const InputKind kind, sniff(path));
    if (kind == InputKind::Trace) return lift_from_trace(path, chain_number);
    if (kind == InputKind::Unknown)
        return failure(fmt::format("'{}' is neither a trace nor a chain file", printable(path.string())), {},
                       "give a trace.db of `deepjit profile` or `import`, or a chain.json");
    if (chain_number)
        return usage_error("--chain belongs to a trace, and this is a chain file", {}, "leave --chain out");
    DEEPJIT_TRY(const auto text, read_file(path));
    DEEPJIT_TRY(auto chain, graph::from_json(text));
    const std::string name = chain.name.empty() ? path.stem().string() : chain.name;
    return FuseInput{std::move(chain), name, false};
}

} // namespace deepjit::cli
