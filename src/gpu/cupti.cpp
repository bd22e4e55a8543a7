#include "src/gpu/cupti.hpp"

#include "src/gpu/library_search.hpp"

#include <fmt/format.h>

namespace deepjit::gpu {

std::string toolkit_of_cupti(std::uint32_t api_version) {
    if (api_version >= 130000) {
        const std::uint32_t update = api_version % 100;
        const std::string release = fmt::format("{}.{}", api_version / 10000, api_version / 100 % 100);
        return update == 0 ? release : fmt::format("{} Update {}", release, update);
    }
    switch (api_version) { // the list in cupti_version.h
    case 19:
        return "12.0";
    case 20:
        return "12.2";
    case 21:
        return "12.3";
    case 22:
        return "12.4";
    case 23:
        return "12.5";
    case 24:
        return "12.6";
    case 26:
        return "12.8";
    case 27:
        return "12.9";
    case 28:
        return "12.9 Update 1";
    default:
        return fmt::format("API version {}", api_version);
    }
}

std::string known_cupti_problem(std::uint32_t api_version) {
    // 12.4 and its Update 1 report the same API version; the update is the one that lost records
    // (JuliaGPU/CUDA.jl issue 2328).
    if (api_version == 22) return "12.4 Update 1, which reports this version too, loses kernel records";
    if (api_version == 130000) return "13.0 without Update 1 can crash when a thread is named through NVTX";
    return {};
}

Result<CuptiFacts> cupti_facts() {
    const std::string hint =
        "install a CUDA Toolkit 13 or `pip install nvidia-cuda-cupti`, or name the file with "
        "DEEPJIT_CUPTI_LIBRARY";
    DEEPJIT_TRY(const OpenedLibrary library,
                open_library({.title = "CUPTI (libcupti.so)",
                              .environment_variable = "DEEPJIT_CUPTI_LIBRARY",
                              .file_names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                              .hint = hint}));
    // CUptiResult cuptiGetVersion(uint32_t*); cupti.h is not needed for one call.
    const auto get_version =
        reinterpret_cast<int (*)(std::uint32_t*)>(find_symbol(library.handle, "cuptiGetVersion"));
    CuptiFacts facts;
    facts.library_path = library.path;
    if (get_version == nullptr || get_version(&facts.api_version) != 0)
        return environment_error("CUPTI does not tell its version", fmt::format("asked '{}'", library.path),
                                 hint);
    facts.toolkit = toolkit_of_cupti(facts.api_version);
    facts.known_problem = known_cupti_problem(facts.api_version);
    return facts;
}

} // namespace deepjit::gpu
