#include "cli/cmd_calibrate.hpp"

#include "cli/calibration_report.hpp"
#include "cli/machine_calibration.hpp"
#include "src/base/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace deepjit::cli {
namespace {

class CalibrateCommand : public Command {
  public:
    std::string_view name() const override { return "calibrate"; }
    std::string_view description() const override {
        return "Measure what launches, copies and the tracer cost on this machine";
    }
    std::string_view examples() const override {
        return "deepjit calibrate\n"
               "deepjit calibrate --show\n"
               "deepjit calibrate --format json -o calibration.json";
    }

    void add_options(CLI::App& app) override {
        app.add_flag("--show", show_,
                     "Print what is stored for this device, driver and tracer; measure nothing");
        app.add_option("--format", format_, "text or json")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"text", "json"}));
        app.add_option("-o,--output", output_, "File to write (default: -, stdout)")->type_name("FILE");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        if (show_) {
            DEEPJIT_TRY(const auto stored, stored_calibration());
            if (!stored)
                return failure("nothing is stored for this device, driver and tracer", {},
                               "'deepjit calibrate' measures it");
            DEEPJIT_CHECK(deliver(terminal, *stored));
            return ExitCode::Done;
        }
        DEEPJIT_TRY(const CompleteCalibration complete, calibrate_completely([&](std::string_view step) {
                        terminal.note(fmt::format("measuring {}", step));
                    }));
        for (const Diagnostic& absent : complete.not_measured)
            terminal.warn(absent);
        if (complete.not_stored) terminal.warn(*complete.not_stored);
        if (!complete.stored_at.empty())
            terminal.note(fmt::format("stored in {}; 'profile' puts it into every trace",
                                      printable(complete.stored_at.string())));
        else if (!complete.not_stored)
            terminal.note("not stored: what was stored before stays");
        DEEPJIT_CHECK(deliver(terminal, complete.calibration));
        return complete.not_measured.empty() ? ExitCode::Done : ExitCode::EnvironmentUnfit;
    }

  private:
    Result<void> deliver(Terminal& terminal, const gpu::Calibration& calibration) const {
        return terminal.deliver(
            format_ == "json" ? gpu::to_json(calibration) : render_calibration_text(calibration), output_);
    }

    bool show_ = false;
    std::string format_ = "text";
    std::filesystem::path output_;
};

} // namespace

std::unique_ptr<Command> make_calibrate_command() {
    return std::make_unique<CalibrateCommand>();
}

} // namespace deepjit::cli
