#include "src/base/text.hpp"

#include <benchmark/benchmark.h>

namespace deepjit {
namespace {

/// A name as PyTorch's kernels have it; a trace of a large model holds some hundred distinct ones.
const std::string kSymbol =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";

void demangle_a_kernel_name(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(base_name_of_function(demangle(kSymbol)));
}
BENCHMARK(demangle_a_kernel_name);

void make_a_long_name_printable(benchmark::State& state) {
    const std::string name(8192, '\xff');
    for (auto _ : state)
        benchmark::DoNotOptimize(printable(name));
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * 8192);
}
BENCHMARK(make_a_long_name_printable);

} // namespace
} // namespace deepjit
