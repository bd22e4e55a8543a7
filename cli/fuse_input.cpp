#include "cli/fuse_input.hpp"

#include "analyzers/advise.hpp"
#include "cli/no_kernels_remedy.hpp"
#include "cli/trace_output.hpp"
#include "fusers/lift/lift_chain.hpp"
#include "reports/advise_text.hpp"
#include "src/base/files.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/model/kernel_label.hpp"
#include "src/model/trace_data.hpp"
#include "src/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace deepjit::cli {

namespace {

enum class InputKind { Trace, ChainFile, Unknown };

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

Result<InputKind> sniff(const std::filesystem::path& path) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (std::filesystem::is_directory(status))
        return usage_error(fmt::format("'{}' is a folder", printable(path.string())), {},
                           "give a trace.db or a chain.json");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return usage_error(fmt::format("'{}' is no regular file", printable(path.string())), {},
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

/// One line for each chain, by number and labels.
std::string list_of_chains(const model::Report& report) {
    constexpr std::size_t kMostListed = 10;
    constexpr std::size_t kColumns = 76; // further lines of a cause are indented by 4
    const std::size_t count = report.chains.size();
    std::string text = fmt::format("the trace holds {} chain{}", count, count == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(count, kMostListed); ++i) {
        const model::Chain& chain = report.chains[i].chain;
        std::vector<std::string> labels;
        for (const model::ChainStep& step : chain.steps)
            labels.push_back(printable(model::kernel_label(step.name)));
        const std::string line = fmt::format("{:>3}  {:>2} kernels: {}", chain.number, chain.steps.size(),
                                             model::join_labels(labels));
        text += "\n" + elide_middle(line, kColumns);
    }
    if (count > kMostListed) text += fmt::format("\nand {} more", count - kMostListed);
    return text;
}

Result<void> check_chain_number(const model::Report& report, std::optional<int> number,
                                const std::filesystem::path& path) {
    if (number && report.chain(*number) != nullptr) return {};
    const std::string hint =
        fmt::format("see what each is worth:\ndeepjit advise {}", shell_word(path.string()));
    return usage_error(number ? fmt::format("there is no chain {}", *number) : "a trace needs --chain N",
                       list_of_chains(report), hint);
}

Result<FuseInput> lift_from_trace(const std::filesystem::path& path, std::optional<int> chain_number,
                                  double short_kernel_ns) {
    DEEPJIT_TRY(const auto trace, trace::Trace::open(path));
    DEEPJIT_TRY(const auto data, model::load_trace_data(trace));
    analyzers::AdviseOptions options;
    options.short_kernel_ns = short_kernel_ns;
    const model::Report report = analyzers::advise(data, options);
    if (report.no_kernels)
        return failure(fmt::format("'{}' holds nothing to fuse", printable(path.string())),
                       reports::no_kernels_text(*report.no_kernels),
                       std::string(remedy_for(report.no_kernels->cause)));
    if (report.chains.empty())
        return failure(fmt::format("'{}' holds no chain of short kernels", printable(path.string())),
                       data.kernels.size() == 1
                           ? std::string("it holds one kernel")
                           : fmt::format("it holds {} kernels",
                                         format_count(static_cast<std::int64_t>(data.kernels.size()))),
                       fmt::format("see what it holds:\ndeepjit advise {}", shell_word(path.string())));
    DEEPJIT_CHECK(check_chain_number(report, chain_number, path));
    const model::ChainAdvice* advice = report.chain(*chain_number);
    const std::string name = fmt::format("chain_{}", *chain_number);
    DEEPJIT_TRY(auto lifted, lift::lift_chain(trace, advice->chain, name));
    return FuseInput{std::move(lifted.chain), name, true};
}

} // namespace

Result<FuseInput> read_fuse_input(const std::filesystem::path& path, std::optional<int> chain_number,
                                  double short_kernel_ns) {
    DEEPJIT_TRY(const InputKind kind, sniff(path));
    if (kind == InputKind::Trace) return lift_from_trace(path, chain_number, short_kernel_ns);
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
