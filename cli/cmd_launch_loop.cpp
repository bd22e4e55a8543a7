#include "cli/cmd_launch_loop.hpp"

#include "cli/machine_calibration.hpp"
#include "src/gpu/calibration.hpp"

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
        app.add_option("--launches", launches_, "Launches in a burst")
            ->type_name("N")
            ->check(CLI::PositiveNumber);
        app.add_option("--rounds", rounds_, "Bursts to take the median of")
            ->type_name("N")
            ->check(CLI::PositiveNumber);
        app.add_flag("--graphs", with_graphs_, "Measure CUDA Graphs as well");
        app.add_flag("--whole-calibration", whole_calibration_,
                     "Print what profile would store: everything, from the cache where it is known");
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const gpu::Calibration costs,
                    whole_calibration_ ? calibration_for_this_machine()
                                       : gpu::measure_launch_costs(0, launches_, rounds_, with_graphs_));
        terminal.result(gpu::to_json(costs));
        return ExitCode::Done;
    }

  private:
    int launches_ = 200;
    int rounds_ = 60;
    bool with_graphs_ = false;
    bool whole_calibration_ = false;
};

} // namespace

std::unique_ptr<Command> make_launch_loop_command() {
    return std::make_unique<LaunchLoopCommand>();
}

} // namespace deepjit::cli
