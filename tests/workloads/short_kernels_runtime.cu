// short_kernels through the CUDA runtime API and <<<>>>: its launches reach the driver as library kernels.
#include "tests/workloads/short_kernels.cuh"
#include "tests/workloads/workload.hpp"

#include <cuda_runtime.h>

namespace {

using namespace short_kernels;

void check(cudaError_t result, const char* call) {
    if (result != cudaSuccess) stop(std::string(call) + ": " + cudaGetErrorString(result));
}
#define CHECK(call) check(call, #call)

struct Buffers {
    float* input;
    float* row;
    float* work[2];
};

void launch_kernels(const Options& options, const Buffers& buffers, cudaStream_t stream) {
    const int blocks = (options.floats + kThreads - 1) / kThreads;
    for (int k = 0; k < options.kernels; ++k) {
        const float* input = k == 0 ? buffers.input : buffers.work[(k - 1) % 2];
        float* output = buffers.work[k % 2];
        if (k % 3 == 0)
            scale_and_shift<<<blocks, kThreads, 0, stream>>>(input, output, kScale, kShift, options.floats);
        if (k % 3 == 1) add_rows<<<blocks, kThreads, 0, stream>>>(input, buffers.row, output, options.floats);
        if (k % 3 == 2)
            clamp_range<<<blocks, kThreads, 0, stream>>>(input, output, kLow, kHigh, options.floats);
    }
    CHECK(cudaGetLastError());
}

} // namespace

int main(int argc, char** argv) {
    const Options options = read_options(argc, argv);
    const std::size_t bytes = static_cast<std::size_t>(options.floats) * sizeof(float);
    Buffers buffers{};
    for (float** buffer : {&buffers.input, &buffers.row, &buffers.work[0], &buffers.work[1]})
        CHECK(cudaMalloc(reinterpret_cast<void**>(buffer), bytes));
    std::vector<float> input(static_cast<std::size_t>(options.floats));
    std::vector<float> row(input.size());
    for (int i = 0; i < options.floats; ++i) {
        input[static_cast<std::size_t>(i)] = input_element(i);
        row[static_cast<std::size_t>(i)] = row_element(i);
    }
    CHECK(cudaMemcpy(buffers.input, input.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(buffers.row, row.data(), bytes, cudaMemcpyHostToDevice));
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraphExec_t graph_exec = nullptr;
    if (options.graph) {
        cudaGraph_t graph = nullptr;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        launch_kernels(options, buffers, stream);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&graph_exec, graph, 0));
    }
    std::vector<double> times = time_frames_us(options.frames, [&] {
        if (options.graph)
            CHECK(cudaGraphLaunch(graph_exec, stream));
        else
            launch_kernels(options, buffers, stream);
        CHECK(cudaStreamSynchronize(stream));
    });
    CHECK(cudaMemcpy(input.data(), buffers.work[(options.kernels - 1) % 2], bytes, cudaMemcpyDeviceToHost));
    check_result(options, input);
    print_times("runtime", options, std::move(times));
}
