#pragma once

#include "fusers/codegen/generated_kernel.hpp"
#include "src/base/result.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace deepjit::testing {

/// A kernel to build for the CPU: emitted text and the names of its entries.
struct EmittedText {
    std::string source;
    std::vector<std::string> entries;
};

/// Emitted kernels compiled by the host's C++ compiler (see cuda_on_cpu.hpp) and loaded into this process.
class EmittedLibrary {
  public:
    using Launch = void (*)(unsigned int grid, unsigned int block, void* const* arguments);

    /// Builds all kernels as one translation unit, each in a namespace of its own. Entry names must differ.
    static Result<EmittedLibrary> build(const std::vector<EmittedText>& kernels);
    EmittedLibrary(EmittedLibrary&& other) noexcept;
    EmittedLibrary& operator=(EmittedLibrary&&) = delete;
    ~EmittedLibrary();

    /// The launcher of an entry; null where there is none of that name.
    Launch find(const std::string& entry) const;

  private:
    EmittedLibrary() = default;
    void* handle_ = nullptr;
    std::map<std::string, Launch> launches_;
};

EmittedText text_of(const codegen::GeneratedKernel& kernel);

} // namespace deepjit::testing
