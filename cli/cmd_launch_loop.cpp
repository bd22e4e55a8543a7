#include "cli/cmd_launch_loop.hpp"

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
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const gpu::Calibration costs,
                    gpu::measure_launch_costs(0, launches_, rounds_, with_graphs_));
        terminal.result(gpu::to_json(costs));
        return ExitCode::Done;
    }

  private:
    int launches_ = 200;
    int rounds_ = 20;
    bool with_graphs_ = false;
};

} // namespace

std::unique_ptr<Command> make_launch_loop_command() {
    return std::make_unique<LaunchLoopCommand>();
}

} // namespace deepjit::cli
