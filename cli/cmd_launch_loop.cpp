#include "cli/cmd_launch_loop.hpp"

#include "cli/machine_calibration.hpp"
#include "src/gpu/launch_costs.hpp"

#include <CLI/CLI.hpp>

namespace deepjit::cli {
namespace {

class LaunchLoopCommand : public Command {
  public:
    std::string_view name() const override { return kLaunchLoopCommand; }
    std::string_view description() const override { return "Launch empty kernels and print what that costs"; }
    std::string_view examples() const override { return "deepjit internal-launch-loop --graphs"; }

    void add_options(CLI::App& app) override {
        app.group(""); // hidden
        app.add_option("--launches", measurement_.launches, "Launches in a burst")
            ->type_name("N")
            ->check(CLI::PositiveNumber);
        app.add_option("--rounds", measurement_.rounds, "Bursts to take the median of")
            ->type_name("N")
            ->check(CLI::PositiveNumber);
        app.add_option("--warm-up", measurement_.warm_up_launches, "Launches before them")
            ->type_name("N")
            ->check(CLI::NonNegativeNumber);
        app.add_flag("--graphs", measurement_.with_graphs, "Measure CUDA Graphs as well");
        app.add_flag("--whole-calibration", whole_calibration_,
                     "Print what profile would store: everything, from the cache where it is known");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const gpu::Calibration costs, whole_calibration_
                                                      ? calibration_for_this_machine()
                                                      : gpu::measure_launch_costs(0, measurement_));
        terminal.result(gpu::to_json(costs));
        return ExitCode::Done;
    }

  private:
    gpu::LaunchMeasurement measurement_;
    bool whole_calibration_ = false;
};

} // namespace

std::unique_ptr<Command> make_launch_loop_command() {
    return std::make_unique<LaunchLoopCommand>();
}

} // namespace deepjit::cli
