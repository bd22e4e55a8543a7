#pragma once

#include "fusers/verify/statistics.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The four-way timing as data: what bench.json holds.
namespace deepjit::verify {

enum class L2State {
    Cold, ///< buffers rotated through more memory than L2 holds, and L2 overwritten before each sample
    Hot,  ///< the same buffers every time
};

std::string_view name_of(L2State state); ///< "cold", "hot"

/// GPU time of one call of the chain, measured, in one run with the samples of the four ways interleaved.
struct FourWay {
    L2State l2 = L2State::Cold;
    Estimate original_stream;
    Estimate original_graph;
    Estimate fused_stream;
    Estimate fused_graph;
};

struct Benchmark {
    bool measured = false;
    std::string reason; ///< why not
    std::string device_name;
    std::string original_side;
    int original_launches = 0;
    int fused_launches = 1;
    int calls_per_sample = 0;
    int buffer_sets = 0;
    std::int64_t bytes_per_call = 0; ///< inputs read once and outputs written once
    std::vector<FourWay> states;     ///< cold first
};

/// What the figures allow to say, from the cold state.
struct Recommendation {
    Comparison against_stream = Comparison::Ambiguous; ///< fused stream with original stream
    Comparison against_graph = Comparison::Ambiguous;  ///< fused graph with original graph
    bool recommended = false;                          ///< faster by at least one measure and slower by none
    std::string sentence;
};

/// Requires `benchmark.measured`.
Recommendation recommend(const Benchmark& benchmark);

/// bench.json, with `schema_version`. Times are nanoseconds of GPU time, labelled measured.
std::string to_json(const Benchmark& benchmark);

} // namespace deepjit::verify
