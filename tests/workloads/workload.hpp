#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// What the two variants of short_kernels share: options, the chain's arithmetic on the host, the timing
/// line.
namespace short_kernels {

struct Options {
    int kernels = 30;
    int floats = 65536;
    int frames = 200;
    bool graph = false;
    bool compile_only = false; ///< driver variant: compile the kernels for sm_90 and end, with no GPU
};

constexpr int kThreads = 256;
constexpr int kWarmUpFrames = 3;
constexpr float kScale = 0.75f;
constexpr float kShift = 0.125f;
constexpr float kLow = -1.5f;
constexpr float kHigh = 1.5f;

[[noreturn]] inline void stop(const std::string& message, int status = 1) {
    std::fprintf(stderr, "short_kernels: %s\n", message.c_str());
    std::exit(status);
}

inline Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--compile-only") {
            options.compile_only = true;
            continue;
        }
        if (i + 1 == argc)
            stop("usage: short_kernels [--kernels N] [--floats N] [--frames N] [--mode stream|graph]", 2);
        const std::string value = argv[++i];
        if (name == "--mode" && (value == "stream" || value == "graph")) {
            options.graph = value == "graph";
            continue;
        }
        int* const target = name == "--kernels"  ? &options.kernels
                            : name == "--floats" ? &options.floats
                            : name == "--frames" ? &options.frames
                                                 : nullptr;
        if (target == nullptr) stop("unknown option " + name + " " + value, 2);
        *target = std::atoi(value.c_str());
        if (*target < 1) stop(name + " must be at least 1", 2);
    }
    return options;
}

/// Element i of the input and of the row that add_rows adds.
inline float input_element(int i) {
    return static_cast<float>(i % 1000) * 0.01f - 5.0f;
}
inline float row_element(int i) {
    return static_cast<float>(i % 7) * 0.25f - 0.75f;
}

/// Stops unless the device's result is the chain's, bit for bit: the kernels are compiled without
/// contraction.
inline void check_result(const Options& options, const std::vector<float>& result) {
    for (int i = 0; i < options.floats; ++i) {
        float value = input_element(i);
        for (int k = 0; k < options.kernels; ++k) {
            if (k % 3 == 0) value = value * kScale + kShift;
            if (k % 3 == 1) value = value + row_element(i);
            if (k % 3 == 2) value = std::clamp(value, kLow, kHigh);
        }
        if (std::memcmp(&value, &result[static_cast<std::size_t>(i)], sizeof value) != 0)
            stop("element " + std::to_string(i) + " is wrong");
    }
}

/// Runs the frames; each ends with the stream's synchronisation. Wall time of each but the warm-up.
template <class RunFrame>
std::vector<double> time_frames_us(int frames, RunFrame run_frame) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int frame = -kWarmUpFrames; frame < frames; ++frame) {
        const auto begin = Clock::now();
        run_frame();
        const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
        if (frame >= 0) times.push_back(elapsed.count());
    }
    return times;
}

inline void print_times(const char* api, const Options& options, std::vector<double> times) {
    std::sort(times.begin(), times.end());
    std::printf("{\"program\": \"short_kernels\", \"api\": \"%s\", \"mode\": \"%s\", \"kernels\": %d, "
                "\"floats\": %d, \"frames\": %d, \"warm_up_frames\": %d, \"median_us\": %.2f, "
                "\"min_us\": %.2f, \"p10_us\": %.2f}\n",
                api, options.graph ? "graph" : "stream", options.kernels, options.floats, options.frames,
                kWarmUpFrames, times[times.size() / 2], times.front(), times[times.size() / 10]);
}

} // namespace short_kernels
