#include "cli/cmd_advise.hpp"

#include "analyzers/advise.hpp"
#include "cli/no_kernels_remedy.hpp"
#include "cli/option_values.hpp"
#include "cli/trace_output.hpp"
#include "reports/advise_json.hpp"
#include "reports/advise_text.hpp"
#include "src/base/units.hpp"
#include "src/model/trace_data.hpp"
#include "src/trace/trace.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace deepjit::cli {
namespace {

class AdviseCommand final : public Command {
  public:
    std::string_view name() const override { return "advise"; }
    std::string_view description() const override {
        return "Say whether a CUDA Graph, a fused kernel or neither pays, and why";
    }
    std::string_view examples() const override {
        return "deepjit advise trace.db\n"
               "deepjit advise trace.db --format json -o advice.json\n"
               "deepjit advise trace.db --short 20us --worthwhile 0.02\n";
    }

    void add_options(CLI::App& app) override {
        app.add_option("trace", trace_, "Trace that `deepjit profile` recorded")
            ->type_name("TRACE")
            ->required();
        app.add_option("--format", format_, "text or json")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"text", "json"}));
        app.add_option("-o,--output", output_, "File for the report; - is stdout")->type_name("FILE");
        add_time(app, "--short", "Kernels below this are short", short_, kDefaultShort);
        for (Share& share : shares_) {
            share.text = fmt::format("{:g}", options_.*share.value);
            app.add_option(share.option, share.text, share.description)
                ->type_name("SHARE")
                ->capture_default_str();
        }
        inflation_ = fmt::format("{:g}", options_.inflation);
        app.add_option("--inflation", inflation_, "Part 3: least bytes moved ÷ compulsory bytes")
            ->type_name("RATIO")
            ->capture_default_str();
        add_time(app, "--host-work", "Host time without a call that is more than dispatching", host_work_,
                 "50us");
        add_time(app, "--fuse-cost", "What compiling and tuning one fused kernel takes", fuse_cost_, "2s");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(options_.short_kernel_ns, parse_duration_ns(short_));
        DEEPJIT_TRY(options_.host_work_ns, parse_duration_ns(host_work_));
        DEEPJIT_TRY(options_.fuse_cost_ns, parse_duration_ns(fuse_cost_));
        DEEPJIT_TRY(options_.inflation, parse_ratio("--inflation", inflation_, 1));
        for (const Share& share : shares_) {
            DEEPJIT_TRY(options_.*share.value, parse_share(share.option, share.text));
        }
        if (std::error_code ignored; std::filesystem::equivalent(output_, trace_, ignored))
            return usage_error(fmt::format("the report would overwrite the trace '{}'", trace_), {},
                               "choose another file with -o");
        DEEPJIT_TRY(const trace::Trace trace, trace::Trace::open(trace_));
        DEEPJIT_TRY(const model::TraceData data, model::load_trace_data(trace));
        const model::Report report = analyzers::advise(data, options_);
        DEEPJIT_CHECK(terminal.deliver(format_ == "json"
                                           ? reports::advise_json(report)
                                           : reports::advise_text(report, trace_words(), terminal.width()),
                                       output_));
        if (!report.no_kernels) return ExitCode::Done;
        terminal.note(remedy_for(report.no_kernels->cause));
        return exit_code_of(report.no_kernels->cause);
    }

  private:
    /// The trace for the next command, with what makes `fuse` find the same chains.
    std::string trace_words() const {
        const std::string trace = shell_word(trace_);
        return short_ == kDefaultShort ? trace : fmt::format("{} --short {}", trace, shell_word(short_));
    }

    static void add_time(CLI::App& app, const std::string& option, const std::string& description,
                         std::string& value, const std::string& fallback) {
        value = fallback;
        app.add_option(option, value, description)->type_name("TIME")->capture_default_str();
    }
    /// An option that takes a share, as text until run() reads it.
    struct Share {
        std::string option;
        std::string description;
        double analyzers::AdviseOptions::*value;
        std::string text = {};
    };

    std::string trace_;
    std::string format_ = "text";
    std::string output_;
    std::string short_;
    std::string host_work_;
    std::string fuse_cost_;
    std::string inflation_;
    analyzers::AdviseOptions options_;
    std::array<Share, 4> shares_ = {
        Share{"--short-launches", "Part 1: least share of launches that are short",
              &analyzers::AdviseOptions::short_launch_share},
        Share{"--short-time", "Part 1: least share of kernel time in short kernels",
              &analyzers::AdviseOptions::short_time_share},
        Share{"--exposed-gaps", "Part 2: least share of the span in exposed gaps",
              &analyzers::AdviseOptions::exposed_gap_share},
        Share{"--worthwhile", "Least share of the frame that a change must save",
              &analyzers::AdviseOptions::worthwhile_share}};
};

} // namespace

std::unique_ptr<Command> make_advise_command() {
    return std::make_unique<AdviseCommand>();
}

} // namespace deepjit::cli
