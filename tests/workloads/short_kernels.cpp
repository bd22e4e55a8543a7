// A program that launches frames of short dependent kernels, as profiling target. It opens the driver and
// NVRTC at run time, so that it builds on a machine that has neither.
#include "tests/workloads/workload.hpp"

#include <array>
#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <string_view>

namespace short_kernels {

extern const std::string_view kKernelSource; // short_kernels.cuh, embedded by CMake

namespace {

#define STRINGIFY_EXPANDED(text) #text
#define STRINGIFY(text) STRINGIFY_EXPANDED(text)
/// cuda.h renames calls to their versioned symbols by macro; STRINGIFY sees the symbol.
#define FUNCTION(handle, name) reinterpret_cast<decltype(&name)>(symbol(handle, STRINGIFY(name)))

void* symbol(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) stop(std::string("the library lacks ") + name);
    return found;
}

/// NVRTC opens its builtins by bare name, which fails outside the loader's folders; so they are opened first.
void* open_nvrtc() {
    const std::vector<std::string> folders = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/",
                                              CUDA_WHEELS_FOLDER "/lib/"};
    for (const std::string& folder : folders) {
        dlopen((folder + "libnvrtc-builtins.so.13.0").c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (void* const library = dlopen((folder + "libnvrtc.so.13").c_str(), RTLD_NOW)) return library;
    }
    stop("cannot open NVRTC: install a CUDA Toolkit 13 or run `make setup`");
}

struct Image {
    std::string cubin;
    std::array<std::string, 3> kernel_names; ///< mangled: scale_and_shift, add_rows, clamp_range
};

Image compile(const std::string& architecture) {
    void* const library = open_nvrtc();
    nvrtcProgram program = nullptr;
    const auto check = [](nvrtcResult result, const char* call) {
        if (result != NVRTC_SUCCESS) stop(std::string(call) + " returned " + std::to_string(result));
    };
    check(FUNCTION(library, nvrtcCreateProgram)(&program, std::string(kKernelSource).c_str(),
                                                "short_kernels.cuh", 0, nullptr, nullptr),
          "nvrtcCreateProgram");
    constexpr std::array kNames = {"scale_and_shift", "add_rows", "clamp_range"};
    for (const char* const name : kNames)
        check(FUNCTION(library, nvrtcAddNameExpression)(program, name), "nvrtcAddNameExpression");
    const std::string arch_option = "--gpu-architecture=" + architecture;
    const std::array<const char*, 2> options = {arch_option.c_str(), "--fmad=false"};
    check(FUNCTION(library, nvrtcCompileProgram)(program, static_cast<int>(options.size()), options.data()),
          "nvrtcCompileProgram");
    Image image;
    std::size_t bytes = 0;
    check(FUNCTION(library, nvrtcGetCUBINSize)(program, &bytes), "nvrtcGetCUBINSize");
    image.cubin.resize(bytes);
    check(FUNCTION(library, nvrtcGetCUBIN)(program, image.cubin.data()), "nvrtcGetCUBIN");
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        const char* lowered = nullptr;
        check(FUNCTION(library, nvrtcGetLoweredName)(program, kNames[i], &lowered), "nvrtcGetLoweredName");
        image.kernel_names[i] = lowered;
    }
    FUNCTION(library, nvrtcDestroyProgram)(&program);
    return image;
}

/// The driver's context, kernels and buffers; they live until the process ends.
class Chain {
  public:
    Chain(void* driver, const Options& options) : driver_(driver), options_(options) {
        CUdevice device = 0;
        CUcontext context = nullptr;
        check(FUNCTION(driver_, cuDeviceGet)(&device, 0), "cuDeviceGet");
        check(FUNCTION(driver_, cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
        check(FUNCTION(driver_, cuCtxSetCurrent)(context), "cuCtxSetCurrent");
        check(FUNCTION(driver_, cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
        load_kernels(device);
        fill_buffers();
        launch_kernel_ = FUNCTION(driver_, cuLaunchKernel);
        synchronize_ = FUNCTION(driver_, cuStreamSynchronize);
        launch_graph_ = FUNCTION(driver_, cuGraphLaunch);
        if (options_.graph) record_graph();
    }

    void run_frame() {
        if (options_.graph)
            check(launch_graph_(graph_, stream_), "cuGraphLaunch");
        else
            launch_kernels();
        check(synchronize_(stream_), "cuStreamSynchronize");
    }

    std::vector<float> result() {
        std::vector<float> values(static_cast<std::size_t>(options_.floats));
        check(FUNCTION(driver_, cuMemcpyDtoH)(values.data(), output_of(options_.kernels - 1), byte_count()),
              "cuMemcpyDtoH");
        return values;
    }

  private:
    void check(CUresult result, const char* call) {
        if (result == CUDA_SUCCESS) return;
        const char* name = nullptr;
        FUNCTION(driver_, cuGetErrorName)(result, &name);
        stop(std::string(call) + " returned " + (name != nullptr ? name : std::to_string(result)));
    }

    std::size_t byte_count() const { return static_cast<std::size_t>(options_.floats) * sizeof(float); }
    CUdeviceptr output_of(int kernel) const { return work_[static_cast<std::size_t>(kernel % 2)]; }

    void load_kernels(CUdevice device) {
        int major = 0;
        int minor = 0;
        const auto attribute = FUNCTION(driver_, cuDeviceGetAttribute);
        check(attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
              "cuDeviceGetAttribute");
        check(attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
              "cuDeviceGetAttribute");
        const Image image = compile("sm_" + std::to_string(major) + std::to_string(minor));
        CUmodule module = nullptr;
        check(FUNCTION(driver_, cuModuleLoadData)(&module, image.cubin.data()), "cuModuleLoadData");
        for (std::size_t i = 0; i < kernels_.size(); ++i)
            check(FUNCTION(driver_, cuModuleGetFunction)(&kernels_[i], module, image.kernel_names[i].c_str()),
                  "cuModuleGetFunction");
    }

    void fill_buffers() {
        const auto allocate = FUNCTION(driver_, cuMemAlloc);
        for (CUdeviceptr* buffer : {&input_, &row_, &work_[0], &work_[1]})
            check(allocate(buffer, byte_count()), "cuMemAlloc");
        std::vector<float> values(static_cast<std::size_t>(options_.floats));
        const auto copy = FUNCTION(driver_, cuMemcpyHtoD);
        for (int i = 0; i < options_.floats; ++i)
            values[static_cast<std::size_t>(i)] = input_element(i);
        check(copy(input_, values.data(), byte_count()), "cuMemcpyHtoD");
        for (int i = 0; i < options_.floats; ++i)
            values[static_cast<std::size_t>(i)] = row_element(i);
        check(copy(row_, values.data(), byte_count()), "cuMemcpyHtoD");
    }

    void launch_kernels() {
        const auto blocks = static_cast<unsigned>((options_.floats + kThreads - 1) / kThreads);
        int count = options_.floats;
        float scale = kScale;
        float shift = kShift;
        float low = kLow;
        float high = kHigh;
        for (int k = 0; k < options_.kernels; ++k) {
            CUdeviceptr input = k == 0 ? input_ : output_of(k - 1);
            CUdeviceptr output = output_of(k);
            std::array<void*, 5> scale_arguments = {&input, &output, &scale, &shift, &count};
            std::array<void*, 5> add_arguments = {&input, &row_, &output, &count, nullptr};
            std::array<void*, 5> clamp_arguments = {&input, &output, &low, &high, &count};
            const std::array arguments = {scale_arguments.data(), add_arguments.data(),
                                          clamp_arguments.data()};
            const auto which = static_cast<std::size_t>(k % 3);
            check(launch_kernel_(kernels_[which], blocks, 1, 1, kThreads, 1, 1, 0, stream_, arguments[which],
                                 nullptr),
                  "cuLaunchKernel");
        }
    }

    void record_graph() {
        CUgraph graph = nullptr;
        check(FUNCTION(driver_, cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
              "cuStreamBeginCapture");
        launch_kernels();
        check(FUNCTION(driver_, cuStreamEndCapture)(stream_, &graph), "cuStreamEndCapture");
        check(FUNCTION(driver_, cuGraphInstantiateWithFlags)(&graph_, graph, 0),
              "cuGraphInstantiateWithFlags");
    }

    void* driver_;
    Options options_;
    CUstream stream_ = nullptr;
    CUgraphExec graph_ = nullptr;
    std::array<CUfunction, 3> kernels_{};
    CUdeviceptr input_ = 0;
    CUdeviceptr row_ = 0;
    std::array<CUdeviceptr, 2> work_{};
    decltype(&cuLaunchKernel) launch_kernel_ = nullptr;
    decltype(&cuStreamSynchronize) synchronize_ = nullptr;
    decltype(&cuGraphLaunch) launch_graph_ = nullptr;
};

} // namespace
} // namespace short_kernels

int main(int argc, char** argv) {
    using namespace short_kernels;
    const Options options = read_options(argc, argv);
    if (options.compile_only) {
        const Image image = compile("sm_90");
        for (const std::string& name : image.kernel_names)
            std::printf("%s\n", name.c_str());
        return 0;
    }
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) stop("no NVIDIA driver on this machine (libcuda.so.1 cannot be opened)");
    if (FUNCTION(driver, cuInit)(0) != CUDA_SUCCESS) stop("no NVIDIA GPU on this machine (cuInit failed)");
    Chain chain(driver, options);
    std::vector<double> times = time_frames_us(options.frames, [&] { chain.run_frame(); });
    check_result(options, chain.result());
    print_times("driver", options, std::move(times));
}
