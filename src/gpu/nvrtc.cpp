#include "src/gpu/nvrtc.hpp"

#include "src/gpu/library_search.hpp"

#include <fmt/format.h>

#include <dlfcn.h>
#include <nvrtc.h>

#include <filesystem>

namespace deepjit::gpu {

#define DEEPJIT_NVRTC_FUNCTIONS(USE)                                                                         \
    USE(nvrtcVersion)                                                                                        \
    USE(nvrtcGetErrorString)                                                                                 \
    USE(nvrtcGetNumSupportedArchs)                                                                           \
    USE(nvrtcGetSupportedArchs)                                                                              \
    USE(nvrtcCreateProgram)                                                                                  \
    USE(nvrtcDestroyProgram)                                                                                 \
    USE(nvrtcCompileProgram)                                                                                 \
    USE(nvrtcGetProgramLogSize)                                                                              \
    USE(nvrtcGetProgramLog)                                                                                  \
    USE(nvrtcGetCUBINSize)                                                                                   \
    USE(nvrtcGetCUBIN)                                                                                       \
    USE(nvrtcGetPTXSize)                                                                                     \
    USE(nvrtcGetPTX)

struct Nvrtc::Functions {
#define DEEPJIT_DECLARE(name) decltype(&::name) name = nullptr;
    DEEPJIT_NVRTC_FUNCTIONS(DEEPJIT_DECLARE)
#undef DEEPJIT_DECLARE
};

namespace {

namespace fs = std::filesystem;

/// The compiler proper is partly in libnvrtc-builtins, which lies beside libnvrtc; both sizes tell builds
/// apart.
std::string identity_of(const fs::path& library, int major, int minor) {
    std::error_code error;
    const fs::path real = fs::canonical(library, error);
    const auto size_of = [](const fs::path& file) -> std::uintmax_t {
        std::error_code size_error;
        const std::uintmax_t size = fs::file_size(file, size_error);
        return size_error ? 0 : size;
    };
    const fs::path builtins = real.parent_path() / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
    return fmt::format("{}:{}+{}", real.filename().string(), size_of(real), size_of(builtins));
}

/// NVRTC opens its builtins by bare name at the first compilation (13.0:
/// NVRTC_ERROR_BUILTIN_OPERATION_FAILURE where that fails), and the wheels have no search path to their own
/// folder. A library that is already loaded is found by its name wherever it lies.
void open_builtins_beside(const fs::path& library, int major, int minor) {
    const fs::path builtins = library.parent_path() / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
    std::error_code error;
    if (fs::exists(builtins, error)) dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

} // namespace

Result<Nvrtc> Nvrtc::open() {
    const std::string hint = "install a CUDA Toolkit 13 or `pip install nvidia-cuda-nvrtc`, or name the file "
                             "with DEEPJIT_NVRTC_LIBRARY";
    DEEPJIT_TRY(const OpenedLibrary library,
                open_library({.title = "NVRTC (libnvrtc.so)",
                              .environment_variable = "DEEPJIT_NVRTC_LIBRARY",
                              .file_names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                              .hint = hint}));
    static Functions functions;
    bool complete = true;
#define DEEPJIT_LOAD(name)                                                                                   \
    functions.name = reinterpret_cast<decltype(functions.name)>(find_symbol(library.handle, #name));         \
    complete = complete && functions.name != nullptr;
    DEEPJIT_NVRTC_FUNCTIONS(DEEPJIT_LOAD)
#undef DEEPJIT_LOAD
    if (!complete)
        return environment_error("the NVRTC library lacks functions that are needed",
                                 fmt::format("'{}' is no NVRTC 11.2 or newer", library.path), hint);
    Nvrtc nvrtc;
    nvrtc.functions_ = &functions;
    nvrtc.library_path_ = library.path;
    int count = 0;
    if (functions.nvrtcVersion(&nvrtc.major_, &nvrtc.minor_) != NVRTC_SUCCESS ||
        functions.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS)
        return environment_error("NVRTC does not tell its version", fmt::format("asked '{}'", library.path),
                                 hint);
    nvrtc.supported_architectures_.resize(static_cast<std::size_t>(count));
    functions.nvrtcGetSupportedArchs(nvrtc.supported_architectures_.data());
    open_builtins_beside(library.path, nvrtc.major_, nvrtc.minor_);
    nvrtc.build_identity_ = identity_of(library.path, nvrtc.major_, nvrtc.minor_);
    return nvrtc;
}

Result<const Nvrtc*> Nvrtc::instance() {
    static const Result<Nvrtc> opened = open();
    if (!opened) return opened.error();
    return &*opened;
}

std::string Nvrtc::version() const {
    return fmt::format("{}.{}", major_, minor_);
}

Nvrtc::Output Nvrtc::compile(const Program& program) const {
    const Functions& nvrtc = *functions_;
    Output output;
    nvrtcProgram handle = nullptr;
    nvrtcResult result =
        nvrtc.nvrtcCreateProgram(&handle, program.source.c_str(), program.name.c_str(), 0, nullptr, nullptr);
    if (result != NVRTC_SUCCESS) {
        output.error = nvrtc.nvrtcGetErrorString(result);
        return output;
    }
    std::vector<const char*> options;
    for (const std::string& option : program.options)
        options.push_back(option.c_str());
    result = nvrtc.nvrtcCompileProgram(handle, static_cast<int>(options.size()), options.data());
    output.compiled = result == NVRTC_SUCCESS;
    if (!output.compiled) output.error = nvrtc.nvrtcGetErrorString(result);

    std::size_t bytes = 0;
    if (nvrtc.nvrtcGetProgramLogSize(handle, &bytes) == NVRTC_SUCCESS && bytes > 1) {
        output.log.resize(bytes);
        nvrtc.nvrtcGetProgramLog(handle, output.log.data());
        output.log.resize(bytes - 1); // without the terminating zero
    }
    // The cubin's size is 0 where the architecture was a virtual one.
    bytes = 0;
    if (output.compiled && nvrtc.nvrtcGetCUBINSize(handle, &bytes) == NVRTC_SUCCESS && bytes > 0) {
        output.image.resize(bytes);
        nvrtc.nvrtcGetCUBIN(handle, output.image.data());
    } else if (output.compiled && nvrtc.nvrtcGetPTXSize(handle, &bytes) == NVRTC_SUCCESS && bytes > 1) {
        output.image.resize(bytes);
        nvrtc.nvrtcGetPTX(handle, output.image.data());
        output.image.resize(bytes - 1);
    }
    nvrtc.nvrtcDestroyProgram(&handle);
    return output;
}

} // namespace deepjit::gpu
