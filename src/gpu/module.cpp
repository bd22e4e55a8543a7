#include "src/gpu/module.hpp"

#include "src/gpu/driver_functions.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace deepjit::gpu {

Result<FunctionFacts> Function::facts() const {
    FunctionFacts facts;
    DEEPJIT_CHECK(
        DEEPJIT_CU(cuFuncGetAttribute, &facts.registers_per_thread, CU_FUNC_ATTRIBUTE_NUM_REGS, handle_));
    DEEPJIT_CHECK(DEEPJIT_CU(cuFuncGetAttribute, &facts.local_bytes_per_thread,
                             CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, handle_));
    DEEPJIT_CHECK(DEEPJIT_CU(cuFuncGetAttribute, &facts.static_shared_bytes,
                             CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle_));
    DEEPJIT_CHECK(DEEPJIT_CU(cuFuncGetAttribute, &facts.max_threads_per_block,
                             CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle_));
    return facts;
}

Result<void> Function::allow_dynamic_shared_bytes(int bytes) const {
    return DEEPJIT_CU(cuFuncSetAttribute, handle_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

Result<int> Function::max_blocks_per_multiprocessor(int block_threads,
                                                    std::size_t dynamic_shared_bytes) const {
    int blocks = 0;
    DEEPJIT_CHECK(DEEPJIT_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, handle_, block_threads,
                             dynamic_shared_bytes));
    return blocks;
}

Result<Module> Module::load(std::string_view image) {
    // The driver reads PTX as a C string.
    const std::string terminated(image);
    std::array<char, 4096> log{};
    std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    Module module;
    const Result<void> loaded =
        DEEPJIT_CU(cuModuleLoadDataEx, &module.handle_, terminated.data(),
                   static_cast<unsigned>(options.size()), options.data(), values.data());
    if (loaded) return module;
    Diagnostic error = loaded.error();
    if (log[0] != '\0') error.evidence += fmt::format("; the driver's compiler says: {}", log.data());
    return error;
}

Module::Module(Module&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Module& Module::operator=(Module&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

Module::~Module() {
    if (handle_ != nullptr) (void)DEEPJIT_CU(cuModuleUnload, handle_);
}

Result<Function> Module::function(const std::string& name) const {
    CUfunction function = nullptr;
    const Result<void> found = DEEPJIT_CU(cuModuleGetFunction, &function, handle_, name.c_str());
    if (found) return Function(function);
    Diagnostic error = found.error();
    error.message = fmt::format("the module has no kernel '{}'", name);
    return error;
}

} // namespace deepjit::gpu
