#pragma once

#include "src/base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace deepjit::gpu {

/// Where to look for one of NVIDIA's shared libraries.
struct LibrarySearch {
    std::string title;                ///< "NVRTC"
    std::string environment_variable; ///< names the file outright; nothing else is tried where it is set
    std::vector<std::string> file_names;
    bool in_toolkit = true; ///< also look in CUDA Toolkits and wheels, not only where the loader does
    std::string hint;       ///< remedy where none is found
};

struct OpenedLibrary {
    void* handle = nullptr; ///< from dlopen; never closed, since these libraries do not survive it
    std::string path;       ///< where the loader found it
};

/// Opens the first that loads: the environment variable, else the loader's path, $CUDA_HOME, $CUDA_PATH,
/// /usr/local/cuda, the wheels beside the build, the active Python environment's wheels. The error lists what
/// the loader said of each file that exists.
Result<OpenedLibrary> open_library(const LibrarySearch& search);

/// The folders that open_library() tries after the loader's path, in order, whether they exist or not.
std::vector<std::filesystem::path> toolkit_library_directories();

/// The address of an exported function, or null.
void* find_symbol(void* library, const char* name);

} // namespace deepjit::gpu
