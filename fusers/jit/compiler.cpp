#include "fusers/jit/compiler.hpp"

#include "fusers/jit/compiler_log.hpp"
#include "src/base/text.hpp"
#include "src/gpu/nvrtc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace deepjit::jit {

std::string Architecture::name() const {
    return fmt::format("{}_{}{}", is_ptx ? "compute" : "sm", capability, suffix);
}

Result<Architecture> parse_architecture(std::string_view text) {
    const Diagnostic error =
        usage_error(fmt::format("'{}' is not a GPU architecture", printable(text)), {},
                    "write sm_90 for device code or compute_90 for PTX, with the numbers of your GPU");
    Architecture architecture;
    architecture.is_ptx = text.starts_with("compute_");
    if (!architecture.is_ptx && !text.starts_with("sm_")) return error;
    const std::string_view rest = text.substr(text.find('_') + 1);
    const auto [stop, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), architecture.capability);
    const auto digits = static_cast<std::size_t>(stop - rest.data());
    architecture.suffix = rest.substr(digits);
    const bool known_suffix =
        architecture.suffix.empty() || architecture.suffix == "a" || architecture.suffix == "f";
    if (code != std::errc{} || rest.front() == '-' || digits < 2 || digits > 4 || !known_suffix) return error;
    return architecture;
}

Result<std::vector<int>> supported_capabilities() {
    DEEPJIT_TRY(const gpu::Nvrtc* nvrtc, gpu::Nvrtc::instance());
    return nvrtc->supported_architectures();
}

std::vector<std::string> all_options(const CompileRequest& request) {
    std::vector<std::string> options = {"--gpu-architecture=" + request.architecture.name(), "--std=c++17"};
    if (!request.architecture.is_ptx) options.emplace_back("--ptxas-options=-v");
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
}

namespace {

Result<void> check_supported(const gpu::Nvrtc& nvrtc, const Architecture& architecture) {
    const std::vector<int>& supported = nvrtc.supported_architectures();
    if (std::find(supported.begin(), supported.end(), architecture.capability) != supported.end()) return {};
    std::vector<std::string> names;
    for (const int capability : supported)
        names.push_back(fmt::format("sm_{}", capability));
    return usage_error(fmt::format("NVRTC {} cannot compile for {}", nvrtc.version(), architecture.name()),
                       fmt::format("it supports {} ('{}')", join_words(names), nvrtc.library_path()),
                       "choose one of those, or name another NVRTC with DEEPJIT_NVRTC_LIBRARY");
}

} // namespace

Result<CompiledKernel> compile_uncached(const CompileRequest& request) {
    DEEPJIT_TRY(const gpu::Nvrtc* nvrtc, gpu::Nvrtc::instance());
    DEEPJIT_CHECK(check_supported(*nvrtc, request.architecture));
    const std::string file_name = request.name + ".cu";
    gpu::Nvrtc::Program program{request.source, file_name, all_options(request)};
    // NVRTC keeps compiled code of its own since 12.9, and on a hit ptxas reports no figures. The option does
    // not change the result, so it is no part of all_options() and of the key.
    if (std::pair(nvrtc->major(), nvrtc->minor()) >= std::pair(12, 9))
        program.options.emplace_back("--no-cache");

    const auto start = std::chrono::steady_clock::now();
    gpu::Nvrtc::Output output = nvrtc->compile(program);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (!output.compiled)
        return failure(
            fmt::format("{} does not compile for {}", printable(file_name), request.architecture.name()),
            fmt::format("NVRTC {} ({}): {}", nvrtc->version(), output.error,
                        explain_errors(output.log, request.source)),
            "a generated source that does not compile is a fault of deepjit; one edited by hand needs "
            "the named line mended");
    CompiledKernel kernel;
    kernel.architecture = request.architecture;
    kernel.image = std::move(output.image);
    if (!request.architecture.is_ptx) kernel.entries = parse_resources(output.log);
    kernel.log = without_figures(output.log);
    kernel.compile_ms = elapsed.count();
    return kernel;
}

} // namespace deepjit::jit
