#include "cli/cmd_advise.hpp"

#include "analyzers/advise.hpp"
#include "reports/advise_json.hpp"
#include "reports/advise_text.hpp"
#include "src/base/units.hpp"
#include "src/model/trace_data.hpp"
#include "src/trace/trace.hpp"

#include <CLI/CLI.hpp>

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
        add_time(app, "--short", "Kernels below this are short", short_, "5us");
        add_share(app, "--short-launches", "Part 1: least share of launches that are short",
                  options_.short_launch_share);
        add_share(app, "--short-time", "Part 1: least share of kernel time in short kernels",
                  options_.short_time_share);
        add_share(app, "--exposed-gaps", "Part 2: least share of the frame's span in exposed gaps",
                  options_.exposed_gap_share);
        app.add_option("--inflation", options_.inflation, "Part 3: least bytes moved ÷ compulsory bytes")
            ->type_name("RATIO")
            ->check(CLI::Range(1.0, 1e6))
            ->capture_default_str();
        add_share(app, "--worthwhile", "Least share of the frame that a change must save",
                  options_.worthwhile_share);
        add_time(app, "--host-work", "Host time without a call that is more than dispatching", host_work_,
                 "50us");
        add_time(app, "--fuse-cost", "What compiling and tuning one fused kernel takes", fuse_cost_, "2s");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(options_.short_kernel_ns, parse_duration_ns(short_));
        DEEPJIT_TRY(options_.host_work_ns, parse_duration_ns(host_work_));
        DEEPJIT_TRY(options_.fuse_cost_ns, parse_duration_ns(fuse_cost_));
        DEEPJIT_TRY(const trace::Trace trace, trace::Trace::open(trace_));
        DEEPJIT_TRY(const model::TraceData data, model::load_trace_data(trace));
        const model::Report report = analyzers::advise(data, options_);
        DEEPJIT_CHECK(terminal.deliver(format_ == "json"
                                           ? reports::advise_json(report)
                                           : reports::advise_text(report, trace_, terminal.width()),
                                       output_));
        if (report.kernel_count == 0)
            terminal.note("record a program that launches kernels: deepjit profile -- PROGRAM");
        return ExitCode::Done;
    }

  private:
    static void add_time(CLI::App& app, const std::string& option, const std::string& description,
                         std::string& value, const std::string& fallback) {
        value = fallback;
        app.add_option(option, value, description)->type_name("TIME")->capture_default_str();
    }
    static void add_share(CLI::App& app, const std::string& option, const std::string& description,
                          double& value) {
        app.add_option(option, value, description)
            ->type_name("SHARE")
            ->check(CLI::Range(0.0, 1.0))
            ->capture_default_str();
    }

    std::string trace_;
    std::string format_ = "text";
    std::string output_;
    std::string short_;
    std::string host_work_;
    std::string fuse_cost_;
    analyzers::AdviseOptions options_;
};

} // namespace

std::unique_ptr<Command> make_advise_command() {
    return std::make_unique<AdviseCommand>();
}

} // namespace deepjit::cli
