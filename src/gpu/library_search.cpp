#include "src/gpu/library_search.hpp"

#include "src/base/files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace deepjit::gpu {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::string path_of(void* library, const std::string& asked) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name[0] == '\0') return asked;
    return map->l_name;
}

/// RTLD_LOCAL: nothing of them is meant for other libraries of the process.
void* open_file(const std::string& file) {
    return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
}

std::string loader_message() {
    const char* message = dlerror();
    return message == nullptr ? std::string() : std::string(message);
}

/// NVIDIA's wheels put libraries into nvidia/cu13/lib (CUDA 13) or nvidia/<component>/lib (CUDA 12).
void add_wheel_directories(const fs::path& site_packages, std::vector<fs::path>& directories) {
    for (const char* component : {"cu13", "cuda_nvrtc", "cuda_cupti"})
        directories.push_back(site_packages / "nvidia" / component / "lib");
}

} // namespace

std::vector<fs::path> toolkit_library_directories() {
    std::vector<fs::path> directories;
    for (const std::string& root :
         {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
        if (root.empty()) continue;
        for (const char* below : {"lib64", "targets/x86_64-linux/lib", "extras/CUPTI/lib64"})
            directories.push_back(fs::path(root) / below);
    }
    // build/bin/deepjit finds build/cuda-wheels, which the set-up fills where there is no toolkit.
    const fs::path wheels = executable_path().parent_path().parent_path() / "cuda-wheels";
    directories.push_back(wheels / "lib");
    add_wheel_directories(wheels, directories);
    if (const std::string virtual_environment = environment("VIRTUAL_ENV"); !virtual_environment.empty()) {
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(fs::path(virtual_environment) / "lib", error))
            if (entry.path().filename().string().starts_with("python3"))
                add_wheel_directories(entry.path() / "site-packages", directories);
    }
    return directories;
}

Result<OpenedLibrary> open_library(const LibrarySearch& search) {
    if (const std::string chosen = environment(search.environment_variable.c_str()); !chosen.empty()) {
        if (void* library = open_file(chosen)) return OpenedLibrary{library, path_of(library, chosen)};
        return environment_error(
            fmt::format("cannot open {} that {} names", search.title, search.environment_variable),
            loader_message(), fmt::format("correct {} or unset it", search.environment_variable));
    }
    std::string evidence;
    for (const std::string& name : search.file_names) {
        if (void* library = open_file(name)) return OpenedLibrary{library, path_of(library, name)};
        if (evidence.empty()) evidence = loader_message();
    }
    if (search.in_toolkit) {
        for (const fs::path& directory : toolkit_library_directories()) {
            for (const std::string& name : search.file_names) {
                const fs::path file = directory / name;
                std::error_code error;
                if (!fs::exists(file, error)) continue;
                if (void* library = open_file(file)) return OpenedLibrary{library, path_of(library, file)};
                evidence += "; " + loader_message();
            }
        }
    }
    return environment_error(fmt::format("{} was not found", search.title), evidence, search.hint);
}

void* find_symbol(void* library, const char* name) {
    return dlsym(library, name);
}

} // namespace deepjit::gpu
