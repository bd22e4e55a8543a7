#include "tests/fake_cuda/fake_cuda.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

// A target for tests: a graph whose nodes are added by hand and changed between launches. It writes the
// arguments of each kernel of each launch to the file named by its first argument, in hex, a line each.

namespace {

using namespace fake_cuda;

void check(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s: error %d\n", call, static_cast<int>(result));
    std::exit(3);
}
#define CHECK(call) check(call, #call)

constexpr FakeParameter kParameters[] = {{0, 8}, {8, 8}, {16, 4}};
constexpr FakeKernel kKernel = {"_Z5scalePKfPff", kParameters, 3};
constexpr std::size_t kNodes = 3;

struct Arguments {
    CUdeviceptr input;
    CUdeviceptr output;
    float scale;
};

/// A chain of three kernels and a copy.
struct ChainGraph {
    CUfunction function = nullptr;
    CUgraph graph = nullptr;
    CUgraphNode nodes[kNodes] = {};

    /// Valid until the next call.
    CUDA_KERNEL_NODE_PARAMS parameters_of(const Arguments& arguments) {
        held = arguments;
        pointers[0] = &held.input;
        pointers[1] = &held.output;
        pointers[2] = &held.scale;
        CUDA_KERNEL_NODE_PARAMS parameters{};
        parameters.func = function;
        parameters.gridDimX = 4;
        parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
        parameters.blockDimX = 64;
        parameters.kernelParams = pointers;
        return parameters;
    }

    void build(const std::vector<Arguments>& chain) {
        CHECK(cuGraphCreate(&graph, 0));
        for (std::size_t i = 0; i < kNodes; ++i) {
            const CUDA_KERNEL_NODE_PARAMS parameters = parameters_of(chain[i]);
            CHECK(cuGraphAddKernelNode_v2(&nodes[i], graph, i == 0 ? nullptr : &nodes[i - 1], i == 0 ? 0 : 1,
                                          &parameters));
        }
        CUDA_MEMCPY3D copy{};
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = chain.front().input;
        copy.srcXInBytes = 16;
        copy.dstDevice = chain.back().output;
        copy.WidthInBytes = 64;
        copy.Height = copy.Depth = 1;
        CUgraphNode node = nullptr;
        CHECK(cuGraphAddMemcpyNode(&node, graph, &nodes[kNodes - 1], 1, &copy, nullptr));
    }

    Arguments held{};
    void* pointers[3] = {};
};

std::vector<Arguments> chain_with(float scale) {
    std::vector<Arguments> chain;
    for (std::size_t i = 0; i < kNodes; ++i)
        chain.push_back({0x1000 * (i + 1), 0x1000 * (i + 2), scale + static_cast<float>(i)});
    return chain;
}

void write_line(std::ofstream& file, const Arguments& arguments) {
    unsigned char bytes[20] = {};
    std::memcpy(bytes, &arguments.input, 8);
    std::memcpy(bytes + 8, &arguments.output, 8);
    std::memcpy(bytes + 16, &arguments.scale, 4);
    for (const unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        file << digits;
    }
    file << '\n';
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    std::ofstream expected(argv[1]);
    CHECK(cuInit(0));
    CUcontext context = nullptr;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    FakeImage image;
    image.kernels = &kKernel;
    image.kernel_count = 1;
    fake_cuda_load_images_as(&image);
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module, ".version 8.0\n.entry _Z5scalePKfPff() { }\n"));
    ChainGraph first;
    ChainGraph second;
    CHECK(cuModuleGetFunction(&first.function, module, kKernel.name));
    second.function = first.function;
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    std::vector<Arguments> chain = chain_with(1.0F);
    CUgraphExec executable = nullptr;
    const auto launch = [&] {
        CHECK(cuGraphLaunch(executable, stream));
        for (const Arguments& arguments : chain)
            write_line(expected, arguments);
    };
    first.build(chain);
    CHECK(cuGraphInstantiateWithFlags(&executable, first.graph, 0));
    launch();

    // A node of the executable graph alone.
    chain[1].scale = 50.0F;
    CUDA_KERNEL_NODE_PARAMS parameters = first.parameters_of(chain[1]);
    CHECK(cuGraphExecKernelNodeSetParams_v2(executable, first.nodes[1], &parameters));
    launch();

    // The graph it came from: the executable stays as it is.
    Arguments other = chain[0];
    other.scale = 60.0F;
    parameters = first.parameters_of(other);
    CHECK(cuGraphKernelNodeSetParams_v2(first.nodes[0], &parameters));
    launch();

    // All nodes, from another graph.
    chain = chain_with(70.0F);
    second.build(chain);
    CUgraphExecUpdateResultInfo result{};
    CHECK(cuGraphExecUpdate_v2(executable, second.graph, &result));
    launch();

    // Instantiated anew, with the change from before.
    chain = chain_with(1.0F);
    chain[0] = other;
    CHECK(cuGraphInstantiateWithFlags(&executable, first.graph, 0));
    launch();
    CHECK(cuStreamSynchronize(stream));
}
