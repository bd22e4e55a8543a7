#pragma once

#include "fusers/jit/compiler.hpp"
#include "src/gpu/module.hpp"

#include <string>

namespace deepjit::gpu {
class Context;
}

namespace deepjit::jit {

/// A compiled kernel in the module of one context.
class LoadedKernel {
  public:
    /// Refuses an image that the context's device cannot run, and says which it can.
    static Result<LoadedKernel> load(const gpu::Context& context, const CompiledKernel& kernel);

    /// The error for an unknown entry lists those that ptxas reported.
    Result<gpu::Function> entry(const std::string& name) const;

  private:
    explicit LoadedKernel(gpu::Module module) : module_(std::move(module)) {}
    gpu::Module module_;
    std::vector<std::string> entry_names_;
};

} // namespace deepjit::jit
