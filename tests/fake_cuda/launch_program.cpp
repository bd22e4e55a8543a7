#include "src/base/image_format.hpp"
#include "tests/fake_cuda/device_image.hpp"
#include "tests/fake_cuda/fake_cuda.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <cudaProfiler.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

// A target for tests: frames of a chain of short kernels, launched and ended in the ways its options name.

namespace {

using namespace fake_cuda;

/// (const float* input, float* output, float scale, int count): a hole before nothing, 24 bytes.
constexpr FakeParameter kScaleParameters[] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
/// (char tag, const float* input, float* output): a hole of seven bytes after the first.
constexpr FakeParameter kTaggedParameters[] = {{0, 1}, {8, 8}, {16, 8}};

constexpr const char* kScale = "_Z5scalePKfPffi";
constexpr const char* kTagged = "_Z6taggedcPKfPf";
constexpr const char* kEmpty = "_Z5emptyv";
constexpr const char* kOddName = "odd \"name\"\n*/ ../\xff\xfe'; DROP TABLE kernels; --";

struct Options {
    int frames = 10;
    int kernels = 8;
    int frame_pause_us = 0;
    int threads = 1;
    int elements = 1024;
    int status = 0;
    bool graph = false;
    bool library = false;
    bool extra = false;
    bool cooperative = false;
    bool on_devices = false;
    bool launch_ex = false;
    bool odd_names = false;
    bool copies = false;
    bool fork_child = false;
    int children = 0;
    bool launcher = false;
    bool leave_children = false;
    bool new_outputs = false;
    int profile_from = -1;
    int profile_to = -1;
    std::string range;
    std::string environment_to;
    bool exec_self = false;
    std::string reuse_descriptors;
    std::string image = "ptx";
    std::string image_to;
    std::string end = "return";
    std::string arguments_to;
};

void check(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s: error %d\n", call, static_cast<int>(result));
    std::exit(3);
}
#define CHECK(call) check(call, #call)

struct Program {
    Options options;
    std::string long_name = "_Z4long" + std::string(8 * 1024 - 7, 'n');
    std::vector<FakeKernel> kernels;
    FakeImage image;
    std::string container;
    deepjit::image_format::FatBinaryWrapper wrapper{};
    const void* container_argument = nullptr;
    std::vector<CUfunction> functions; ///< scale, tagged, empty, then the odd and the long name
    std::ofstream arguments;

    void load() {
        kernels = {{kScale, kScaleParameters, 4},
                   {kTagged, kTaggedParameters, 3},
                   {kEmpty, nullptr, 0},
                   {kOddName, kScaleParameters, 4},
                   {long_name.c_str(), kScaleParameters, 4}};
        image.kernels = kernels.data();
        image.kernel_count = kernels.size();
        functions.resize(kernels.size());
        fake_cuda_load_images_as(&image);
        build_container();
        const bool from_file = options.image == "file";
        if (options.library) {
            CUlibrary library = nullptr;
            if (from_file)
                CHECK(cuLibraryLoadFromFile(&library, options.image_to.c_str(), nullptr, nullptr, 0, nullptr,
                                            nullptr, 0));
            else
                CHECK(cuLibraryLoadData(&library, container_argument, nullptr, nullptr, 0, nullptr, nullptr,
                                        0));
            for (std::size_t i = 0; i < kernels.size(); ++i) {
                CHECK(
                    cuLibraryGetKernel(reinterpret_cast<CUkernel*>(&functions[i]), library, kernels[i].name));
            }
        } else {
            CUmodule module = nullptr;
            if (from_file)
                CHECK(cuModuleLoad(&module, options.image_to.c_str()));
            else
                CHECK(cuModuleLoadData(&module, container_argument));
            for (std::size_t i = 0; i < kernels.size(); ++i) {
                CHECK(cuModuleGetFunction(&functions[i], module, kernels[i].name));
            }
        }
        if (!options.arguments_to.empty()) arguments.open(options.arguments_to);
    }

    /// What the load call is given, as --image says; --image-to gets a copy of it.
    void build_container() {
        std::vector<std::string> names;
        for (const FakeKernel& kernel : kernels)
            names.emplace_back(kernel.name);
        container = fake_cuda::ptx_with(names);
        if (options.image == "cubin") container = fake_cuda::cubin_with(names);
        if (options.image == "fat-binary" || options.image == "wrapper")
            container = fake_cuda::fat_binary_with(names);
        if (options.image == "unknown") container = std::string("\x01\x02\x03\x04 nothing known", 18);
        if (options.image == "cut-cubin") container = fake_cuda::cubin_with(names).substr(0, 4) + "\x02";
        container_argument = container.c_str();
        wrapper.magic = deepjit::image_format::FatBinaryWrapper::kMagic;
        wrapper.version = 1;
        wrapper.fat_binary = container.data();
        if (options.image == "wrapper") container_argument = &wrapper;
        if (!options.image_to.empty()) std::ofstream(options.image_to, std::ios::binary) << container;
    }

    /// Kernel `index` of a frame reads `input` and writes `output`.
    void launch(int index, CUdeviceptr input, CUdeviceptr output, CUstream stream) {
        const std::size_t odd_kernels = options.odd_names ? 2 : 0;
        const std::size_t which = static_cast<std::size_t>(index) % (3 + odd_kernels);
        const FakeKernel& kernel = kernels[which];
        char packed[24] = {};
        const float scale = 0.5F + static_cast<float>(index);
        const char tag = static_cast<char>('a' + index % 26);
        if (kernel.parameters == kScaleParameters) {
            std::memcpy(packed, &input, 8);
            std::memcpy(packed + 8, &output, 8);
            std::memcpy(packed + 16, &scale, 4);
            std::memcpy(packed + 20, &options.elements, 4);
        } else {
            packed[0] = tag;
            std::memcpy(packed + 8, &input, 8);
            std::memcpy(packed + 16, &output, 8);
        }
        std::vector<void*> parameters;
        for (std::uint32_t i = 0; i < kernel.parameter_count; ++i) {
            parameters.push_back(packed + kernel.parameters[i].byte_offset);
        }
        std::size_t packed_bytes = kernel.parameter_count == 0 ? 0 : sizeof packed;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes,
                         CU_LAUNCH_PARAM_END};
        void** const as_parameters = options.extra ? nullptr : parameters.data();
        void** const as_extra = options.extra ? extra : nullptr;
        const unsigned int grid = static_cast<unsigned int>((options.elements + 255) / 256);
        if (options.cooperative) {
            CHECK(cuLaunchCooperativeKernel(functions[which], grid, 1, 1, 256, 1, 1, 0, stream,
                                            parameters.data()));
        } else if (options.on_devices) {
            CUDA_LAUNCH_PARAMS one{functions[which], grid, 1, 1, 256, 1, 1, 0, stream, parameters.data()};
            CHECK(cuLaunchCooperativeKernelMultiDevice(&one, 1, 0));
        } else if (options.launch_ex) {
            CUlaunchConfig config{};
            config.gridDimX = grid;
            config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
            config.blockDimX = 256;
            config.hStream = stream;
            CHECK(cuLaunchKernelEx(&config, functions[which], as_parameters, as_extra));
        } else {
            CHECK(
                cuLaunchKernel(functions[which], grid, 1, 1, 256, 1, 1, 0, stream, as_parameters, as_extra));
        }
        if (!arguments.is_open()) return;
        for (std::size_t i = 0; i < packed_bytes; ++i) {
            char digits[3];
            std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(packed[i]));
            arguments << digits;
        }
        arguments << '\n' << std::flush;
    }

    void run_frames() {
        const std::size_t bytes = static_cast<std::size_t>(options.elements) * sizeof(float);
        CUstream stream = nullptr;
        CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        std::vector<CUdeviceptr> buffers(static_cast<std::size_t>(options.kernels) + 1);
        for (CUdeviceptr& buffer : buffers)
            CHECK(cuMemAlloc_v2(&buffer, bytes));
        const auto run_chain = [&] {
            for (int i = 0; i < options.kernels; ++i) {
                const auto at = static_cast<std::size_t>(i);
                if (options.new_outputs)
                    CHECK(cuMemAlloc_v2(&buffers[at + 1], bytes)); // the last one is leaked
                launch(i, buffers[at], buffers[at + 1], stream);
            }
        };
        CUgraphExec executable = nullptr;
        if (options.graph) {
            CUgraph graph = nullptr;
            CHECK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            run_chain();
            CHECK(cuStreamEndCapture(stream, &graph));
            CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
        }
        std::vector<float> host(static_cast<std::size_t>(options.elements), 1.0F);
        for (int frame = 0; frame < options.frames; ++frame) {
            if (frame == options.profile_from) CHECK(cuProfilerStart());
            if (frame == options.profile_to) CHECK(cuProfilerStop());
            const bool in_range = !options.range.empty() && frame % 2 == 1;
            if (in_range) nvtxRangePushA(options.range.c_str());
            if (options.copies) CHECK(cuMemcpyHtoD_v2(buffers.front(), host.data(), bytes));
            if (options.graph)
                CHECK(cuGraphLaunch(executable, stream));
            else
                run_chain();
            if (options.copies) {
                CHECK(cuMemsetD8Async(buffers.back(), 0, bytes, stream));
                CHECK(cuMemcpyDtoH_v2(host.data(), buffers.back(), bytes));
            }
            CHECK(cuStreamSynchronize(stream));
            if (in_range) nvtxRangePop();
            std::this_thread::sleep_for(std::chrono::microseconds(options.frame_pause_us));
        }
        for (std::size_t i = 1; i < buffers.size(); ++i)
            CHECK(cuMemFree_v2(buffers[i])); // the first is leaked
    }
};

/// A child that uses no CUDA, leaves by exit(), and so runs the exit handlers it inherited.
void fork_a_child() {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::exit(4);
}

/// Runs of this program with the same options but those that start children.
void start_children(const Options& options, int argc, char** argv) {
    std::vector<char*> arguments = {argv[0]};
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--children") ++i;
        if (argument != "--children" && argument != "--launcher" && argument != "--leave-children")
            arguments.push_back(argv[i]);
    }
    arguments.push_back(nullptr);
    for (int i = 0; i < options.children; ++i) {
        const pid_t child = fork();
        if (child != 0) continue;
        if (options.leave_children) {
            setsid();
            if (fork() != 0) _exit(0); // an orphan, as a daemon is
        }
        execv("/proc/self/exe", arguments.data());
        _exit(6);
    }
    for (int i = 0; i < options.children; ++i) {
        int status = 0;
        wait(&status);
        if (!options.leave_children && status != 0) std::exit(7);
    }
}

/// What a program that turns into a daemon does, and then opens files of its own.
void reuse_descriptors(const std::string& path) {
    for (int descriptor = 3; descriptor < 256; ++descriptor)
        close(descriptor);
    for (int i = 0; i < 32; ++i) {
        if (open(path.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600) < 0) std::exit(5);
    }
}

[[noreturn]] void end(const Options& options) {
    if (options.end == "_exit") _exit(options.status);
    if (options.end == "abort") std::abort();
    if (options.end == "term") std::raise(SIGTERM);
    if (options.end == "kill") std::raise(SIGKILL);
    std::exit(options.status);
}

} // namespace

int main(int argc, char** argv) {
    Program program;
    Options& options = program.options;
    CLI::App app("Launches kernels through the (fake) CUDA driver.");
    app.add_option("--frames", options.frames, "Frames; 0 only initialises the driver");
    app.add_option("--kernels", options.kernels, "Kernels in a frame");
    app.add_option("--elements", options.elements, "Floats in each buffer");
    app.add_option("--frame-pause-us", options.frame_pause_us, "Sleep after each frame");
    app.add_option("--threads", options.threads, "Threads that each run all frames");
    app.add_option("--status", options.status, "Exit status");
    app.add_flag("--graph", options.graph, "Capture the frame once and launch it as a graph");
    app.add_flag("--library", options.library, "Launch library kernels, as the CUDA runtime does");
    app.add_flag("--extra", options.extra, "Pass the arguments packed");
    app.add_flag("--cooperative", options.cooperative, "Launch with cuLaunchCooperativeKernel");
    app.add_flag("--on-devices", options.on_devices, "Launch with cuLaunchCooperativeKernelMultiDevice");
    app.add_flag("--launch-ex", options.launch_ex, "Launch with cuLaunchKernelEx");
    app.add_flag("--odd-names", options.odd_names,
                 "Add a kernel with an odd name and one with 8 KiB of name");
    app.add_flag("--copies", options.copies, "Copy in, fill and copy out in each frame");
    app.add_flag("--fork", options.fork_child, "Fork a child that exits, halfway");
    app.add_option("--children", options.children, "Start this many runs of the same, and wait for them");
    app.add_flag("--launcher", options.launcher, "Only start the children, without CUDA");
    app.add_flag("--new-outputs", options.new_outputs, "Allocate each kernel's output before its launch");
    app.add_flag("--leave-children", options.leave_children, "Turn the children into daemons, do not wait");
    app.add_option("--profile-from", options.profile_from, "Call cuProfilerStart before this frame");
    app.add_option("--profile-to", options.profile_to, "Call cuProfilerStop before this frame");
    app.add_option("--environment-to", options.environment_to,
                   "At the end run a program that writes its environment to this file");
    app.add_option("--range", options.range, "Put every second frame into an NVTX range of this name");
    app.add_flag("--exec-self", options.exec_self,
                 "After the frames replace the process by a run without this flag");
    app.add_option(
        "--reuse-descriptors", options.reuse_descriptors,
        "After the frames close every descriptor, open this file as each of the next 32, run the frames "
        "again");
    app.add_option("--image", options.image,
                   "What the module is loaded from: ptx, cubin, fat-binary, wrapper (of one), file (PTX at "
                   "--image-to), unknown, cut-cubin");
    app.add_option("--image-to", options.image_to, "Write the image to this file");
    app.add_option("--end", options.end, "return, _exit, abort, term or kill");
    app.add_option("--arguments-to", options.arguments_to,
                   "Write each launch's arguments, in hex, a line each");
    CLI11_PARSE(app, argc, argv);

    if (options.launcher) {
        start_children(options, argc, argv);
        end(options);
    }
    CHECK(cuInit(0));
    CUdevice device = 0;
    CUcontext context = nullptr;
    if (options.frames > 0) {
        CHECK(cuDeviceGet(&device, 0));
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
        CHECK(cuCtxSetCurrent(context));
        program.load();
        std::vector<std::thread> threads;
        for (int i = 1; i < options.threads; ++i)
            threads.emplace_back([&] { program.run_frames(); });
        program.run_frames();
        for (std::thread& thread : threads)
            thread.join();
        if (options.fork_child) {
            fork_a_child();
            program.run_frames();
        }
    }
    if (!options.reuse_descriptors.empty()) {
        reuse_descriptors(options.reuse_descriptors);
        program.run_frames();
    }
    if (!options.environment_to.empty() &&
        std::system(("exec env > '" + options.environment_to + "'").c_str()) != 0)
        return 8;
    if (options.children > 0) start_children(options, argc, argv);
    if (options.exec_self) {
        std::vector<char*> arguments(argv, argv + argc);
        std::erase_if(arguments,
                      [](const char* argument) { return std::strcmp(argument, "--exec-self") == 0; });
        arguments.push_back(nullptr);
        execv("/proc/self/exe", arguments.data());
    }
    end(options);
}
