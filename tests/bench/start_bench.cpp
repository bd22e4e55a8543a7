#include "src/base/subprocess.hpp"

#include <benchmark/benchmark.h>

namespace deepjit {
namespace {

/// From exec to exit. The aim is under 20 ms.
void start_of_help(benchmark::State& state) {
    Command command;
    command.arguments = {DEEPJIT_PROGRAM, "--help"};
    command.capture_output = true;
    for (auto _ : state) {
        const auto ended = run(command);
        const auto* const finished = std::get_if<Finished>(&ended);
        if (finished == nullptr || finished->status.code != 0) {
            state.SkipWithError("deepjit --help failed");
            return;
        }
    }
}
BENCHMARK(start_of_help)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace
} // namespace deepjit
