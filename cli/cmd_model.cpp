#include "cli/cmd_model.hpp"

#include "cli/option_values.hpp"
#include "reports/launch_summary.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/model/launch_summary.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace deepjit::cli {
namespace {

/// "8:51.9us".
Result<model::LaunchPoint> parse_point(std::string_view text) {
    constexpr const char* kForm = "write --points K:time,K:time, such as 8:51.9us,117:735us";
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        return usage_error(fmt::format("'{}' is not a number of launches with its time", printable(text)), {},
                           kForm);
    const Result<std::int64_t> calls = parse_count("K in --points", text.substr(0, colon));
    if (!calls) return usage_error(calls.error().message, {}, kForm);
    DEEPJIT_TRY(const double total_ns, parse_duration_ns(text.substr(colon + 1)));
    return model::LaunchPoint{static_cast<double>(*calls), total_ns};
}

class ModelCommand final : public Command {
  public:
    std::string_view name() const override { return "model"; }
    std::string_view description() const override {
        return "Say what of a measured time is launches, and what fusing or a CUDA Graph leaves";
    }
    std::string_view examples() const override {
        return "deepjit model --serial 12.3ms --fused 3.4ms --calls 29\n"
               "deepjit model --serial 347.5us --graph 186.9us --calls 225\n"
               "deepjit model --points 8:51.9us,24:159.1us,117:735.4us\n";
    }

    void add_options(CLI::App& app) override {
        app.add_option("--serial", serial_, "Time of the unfused work, all launches")->type_name("TIME");
        app.add_option("--fused", fused_, "Time of the same work as one kernel")->type_name("TIME");
        app.add_option("--graph", graph_, "Time of the same launches as a CUDA Graph")->type_name("TIME");
        app.add_option("--calls", calls_, "Number of launches of the unfused work (K)")->type_name("N");
        app.add_option("--launch-cost", launch_cost_, "Exposed cost of one launch (L), where known")
            ->type_name("TIME");
        app.add_option("--frame", frame_, "Time of the whole frame that the work is a part of")
            ->type_name("TIME");
        app.add_option("--points", points_, "Totals by K, as K:TIME,K:TIME,...; fits L and a rest")
            ->type_name("POINTS")
            ->delimiter(',');
        app.add_option("--noise", noise_, "Measuring error; T below zero within it counts as zero")
            ->type_name("TIME");
        app.add_option("--format", format_, "text or json")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"text", "json"}));
    }

    Result<ExitCode> run(Terminal& terminal) override {
        model::LaunchQuestion question;
        DEEPJIT_CHECK(read_time(serial_, question.serial_ns));
        DEEPJIT_CHECK(read_time(fused_, question.fused_ns));
        DEEPJIT_CHECK(read_time(graph_, question.graph_ns));
        DEEPJIT_CHECK(read_time(launch_cost_, question.launch_cost_ns));
        DEEPJIT_CHECK(read_time(frame_, question.frame_ns));
        std::optional<double> noise_ns;
        DEEPJIT_CHECK(read_time(noise_, noise_ns));
        question.noise_ns = noise_ns.value_or(0);
        if (!calls_.empty()) {
            DEEPJIT_TRY(question.calls, parse_count("--calls", calls_));
        }
        for (const std::string& text : points_) {
            DEEPJIT_TRY(const model::LaunchPoint point, parse_point(text));
            question.points.push_back(point);
        }
        DEEPJIT_TRY(const model::LaunchSummary summary, model::summarise_launches(question));
        terminal.result(format_ == "json" ? reports::launch_summary_json(summary)
                                          : reports::launch_summary_text(summary, terminal.width()));
        return ExitCode::Done;
    }

  private:
    static Result<void> read_time(const std::string& text, std::optional<double>& nanoseconds) {
        if (text.empty()) return {};
        DEEPJIT_TRY(nanoseconds, parse_duration_ns(text));
        return {};
    }

    std::string serial_;
    std::string fused_;
    std::string graph_;
    std::string launch_cost_;
    std::string frame_;
    std::string noise_;
    std::string format_ = "text";
    std::string calls_;
    std::vector<std::string> points_;
};

} // namespace

std::unique_ptr<Command> make_model_command() {
    return std::make_unique<ModelCommand>();
}

} // namespace deepjit::cli
