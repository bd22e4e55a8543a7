#include "tests/cpu/emitted_library.hpp"

#include "src/base/files.hpp"
#include "src/base/subprocess.hpp"

#include <dlfcn.h>

#include <utility>

namespace deepjit::testing {
namespace {

/// The layout of cuda_on_cpu::Entry, which this program must not include: it defines CUDA's keywords.
struct Entry {
    const char* name;
    EmittedLibrary::Launch launch;
};

std::string translation_unit(const std::vector<EmittedText>& kernels) {
    std::string text;
    std::string table = "extern \"C\" const cuda_on_cpu::Entry cuda_on_cpu_entries[] = {\n";
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::string scope = "kernel_" + std::to_string(i);
        text += "namespace " + scope + " {\n" + kernels[i].source + "} // namespace " + scope + "\n\n";
        for (const auto& entry : kernels[i].entries)
            table += "    {\"" + entry +
                     "\", [](unsigned int grid, unsigned int block, void* const* arguments) {\n"
                     "         cuda_on_cpu::launch_kernel(" +
                     scope + "::" + entry +
                     ", grid, block, cuda_on_cpu::Threads::PlainLoop, arguments);\n     }},\n";
    }
    return text + table + "    {nullptr, nullptr}};\n";
}

Result<void> compile(const std::filesystem::path& source, const std::filesystem::path& library) {
    Command command;
    const std::string header = std::string(DEEPJIT_SOURCE_DIR) + "/tests/cpu/cuda_on_cpu.hpp";
    command.arguments = {
        DEEPJIT_HOST_COMPILER,  "-std=c++17", "-O1",      "-shared", "-fPIC", "-ffp-contract=off",
        "-fno-strict-aliasing", "-w",         "-include", header,    "-o",    library.string(),
        source.string()};
    command.capture_output = true;
    const auto outcome = run(command);
    if (const auto* error = std::get_if<StartError>(&outcome)) return error->diagnostic;
    const auto& finished = std::get<Finished>(outcome);
    if (finished.status.as_shell_code() != 0)
        return failure("The emitted text does not compile for the CPU.",
                       finished.standard_error.substr(0, 4000));
    return {};
}

} // namespace

Result<EmittedLibrary> EmittedLibrary::build(const std::vector<EmittedText>& kernels) {
    DEEPJIT_TRY(const auto folder, make_temporary_directory("deepjit-cpu-"));
    const auto source = folder / "kernels.cpp";
    const auto library = folder / "kernels.so";
    DEEPJIT_CHECK(write_file_atomically(source, translation_unit(kernels)));
    const auto compiled = compile(source, library);
    EmittedLibrary loaded;
    if (compiled) loaded.handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* why = compiled && loaded.handle_ == nullptr ? dlerror() : nullptr;
    const std::string load_error = why == nullptr ? std::string() : why;
    std::filesystem::remove_all(folder);
    if (!compiled) return compiled.error();
    if (loaded.handle_ == nullptr) return failure("The compiled kernels cannot be loaded.", load_error);
    const auto* entry = static_cast<const Entry*>(dlsym(loaded.handle_, "cuda_on_cpu_entries"));
    for (; entry != nullptr && entry->name != nullptr; ++entry)
        loaded.launches_[entry->name] = entry->launch;
    return loaded;
}

EmittedLibrary::EmittedLibrary(EmittedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), launches_(std::move(other.launches_)) {}

EmittedLibrary::~EmittedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

EmittedLibrary::Launch EmittedLibrary::find(const std::string& entry) const {
    const auto found = launches_.find(entry);
    return found == launches_.end() ? nullptr : found->second;
}

EmittedText text_of(const codegen::GeneratedKernel& kernel) {
    EmittedText text{kernel.source, {}};
    for (const auto& entry : kernel.entries)
        text.entries.push_back(entry.name);
    return text;
}

} // namespace deepjit::testing
