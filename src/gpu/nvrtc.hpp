#pragma once

#include "src/base/result.hpp"

#include <string>
#include <vector>

namespace deepjit::gpu {

/// NVRTC, opened once per process. Compiling needs no GPU and no driver.
class Nvrtc {
  public:
    /// Searched in: $DEEPJIT_NVRTC_LIBRARY, the loader's path, the CUDA Toolkit, the wheels beside the build
    /// (src/gpu/library_search.hpp). The answer, also a failure, is kept.
    static Result<const Nvrtc*> instance();

    int major() const { return major_; }
    int minor() const { return minor_; }
    /// "13.0"
    std::string version() const;
    const std::string& library_path() const { return library_path_; }
    /// Distinguishes builds of one version: the name and size of the library and of its builtins library.
    const std::string& build_identity() const { return build_identity_; }
    /// Compute capabilities it can generate code for, ascending: 75, 80, ….
    const std::vector<int>& supported_architectures() const { return supported_architectures_; }

    struct Program {
        std::string source;
        std::string name;                 ///< stands for the file name in messages
        std::vector<std::string> options; ///< in order
    };
    struct Output {
        bool compiled = false;
        std::string image; ///< a cubin for sm_XX, else PTX text
        std::string log;   ///< warnings, errors, ptxas' figures
        std::string error; ///< NVRTC's name of the failure
    };
    /// Thread-safe: NVRTC compiles in parallel.
    Output compile(const Program& program) const;

  private:
    struct Functions;
    Nvrtc() = default;
    static Result<Nvrtc> open();

    const Functions* functions_ = nullptr;
    int major_ = 0;
    int minor_ = 0;
    std::string library_path_;
    std::string build_identity_;
    std::vector<int> supported_architectures_;
};

} // namespace deepjit::gpu
