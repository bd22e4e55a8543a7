#include "cli/tracer_library.hpp"

#include "src/base/files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

namespace deepjit::cli {
namespace fs = std::filesystem;

Result<fs::path> find_tracer_library() {
    const char* chosen = std::getenv("DEEPJIT_TRACER");
    const bool is_chosen = chosen != nullptr && *chosen != '\0';
    // Absolute, because the target may run in another folder by the time it initialises CUDA.
    std::error_code error;
    const fs::path path = is_chosen ? fs::absolute(chosen, error)
                                    : executable_path().parent_path().parent_path() / "lib" / "deepjit" /
                                          "libdeepjit_tracer.so";
    if (::access(path.c_str(), R_OK) == 0) return path;
    return environment_error(fmt::format("cannot read the tracer library '{}'", path.string()),
                             system_error_text(errno),
                             is_chosen ? "DEEPJIT_TRACER names it; correct or unset that variable"
                                       : "build or install deepjit again, or name it with DEEPJIT_TRACER");
}

} // namespace deepjit::cli
