#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace deepjit::cli {

/// End of `deepjit --help`: the usual order of commands and the exit codes.
inline constexpr std::string_view kOverview = R"(Examples:
  deepjit profile -o trace.db -- ./infer
  deepjit advise trace.db
  deepjit fuse trace.db --chain 1 --emit out/

Exit codes:
  0 done   1 failed   2 usage   4 the machine is unfit
  5 a fused kernel failed verification
  profile returns the program's status; 125 it failed itself;
  126 the program is not executable; 127 it was not found;
  128+n it was ended by signal n)";

/// "Examples:" and the indented lines.
std::string help_footer(std::string_view examples);

/// Help in the shape of all of deepjit's help texts: what it does, usage, options, examples. Lines are
/// wrapped at `columns`, but for the examples, which are to be copied.
class HelpFormatter : public CLI::Formatter {
  public:
    explicit HelpFormatter(std::size_t columns);
    std::string make_description(const CLI::App* app) const override;
    std::string make_usage(const CLI::App* app, std::string name) const override;
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
    std::string make_footer(const CLI::App* app) const override;

  private:
    std::string in_right_column(const std::string& description) const;

    std::size_t columns_;
};

} // namespace deepjit::cli
