#include "fusers/jit/loaded_kernel.hpp"

#include "src/base/text.hpp"
#include "src/gpu/context.hpp"

#include <fmt/format.h>

namespace deepjit::jit {
namespace {

/// Device code runs on its own major capability from its minor on, the "a" form on exactly its own, PTX on
/// every later one (CUDA C++ Programming Guide, "Application Compatibility").
bool runs_on(const Architecture& code, const gpu::DeviceFacts& device) {
    const int capability = 10 * device.compute_major + device.compute_minor;
    if (code.suffix == "a") return capability == code.capability;
    if (code.is_ptx) return capability >= code.capability;
    return capability / 10 == code.capability / 10 && capability >= code.capability;
}

} // namespace

Result<LoadedKernel> LoadedKernel::load(const gpu::Context& context, const CompiledKernel& kernel) {
    const gpu::DeviceFacts& device = context.device();
    if (!runs_on(kernel.architecture, device))
        return environment_error(
            fmt::format("code for {} does not run on this device", kernel.architecture.name()),
            fmt::format("{} is {}", device.name, device.architecture()),
            fmt::format("compile it with --arch {}", device.architecture()));
    DEEPJIT_CHECK(context.make_current());
    DEEPJIT_TRY(gpu::Module module, gpu::Module::load(kernel.image));
    LoadedKernel loaded(std::move(module));
    for (const EntryResources& entry : kernel.entries)
        loaded.entry_names_.push_back(entry.name);
    return loaded;
}

Result<gpu::Function> LoadedKernel::entry(const std::string& name) const {
    auto function = module_.function(name);
    if (function || entry_names_.empty()) return function;
    Diagnostic error = std::move(function).error();
    error.hint = fmt::format("it holds {}", join_words(entry_names_));
    return error;
}

} // namespace deepjit::jit
