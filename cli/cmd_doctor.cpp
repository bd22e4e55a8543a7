#include "cli/cmd_doctor.hpp"

#include "cli/doctor_checks.hpp"
#include "cli/doctor_report.hpp"

#include <CLI/CLI.hpp>

namespace deepjit::cli {
namespace {

class DoctorCommand : public Command {
  public:
    std::string_view name() const override { return "doctor"; }
    std::string_view description() const override {
        return "Check what this machine has and lacks for profiling";
    }
    std::string_view examples() const override {
        return "deepjit doctor\n"
               "deepjit doctor --format json -o doctor.json";
    }

    void add_options(CLI::App& app) override {
        app.add_option("--format", format_, "text or json")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"text", "json"}));
        app.add_option("-o,--output", output_, "File to write (default: -, stdout)")->type_name("FILE");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        const std::vector<CheckResult> checks = run_doctor_checks();
        const bool to_stdout = output_.empty() || output_ == "-";
        const bool with_color = to_stdout && terminal.stdout_has_color();
        const std::string report = format_ == "json"
                                       ? render_doctor_json(checks)
                                       : render_doctor_text(checks, with_color, terminal.width());
        DEEPJIT_CHECK(terminal.deliver(report, output_));
        return is_fit(checks) ? ExitCode::Done : ExitCode::EnvironmentUnfit;
    }

  private:
    std::string format_ = "text";
    std::filesystem::path output_;
};

} // namespace

std::unique_ptr<Command> make_doctor_command() {
    return std::make_unique<DoctorCommand>();
}

} // namespace deepjit::cli
