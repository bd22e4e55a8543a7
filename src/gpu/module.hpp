#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

struct CUmod_st;
struct CUfunc_st;

namespace deepjit::gpu {

/// What the driver says of a loaded kernel. Spills are part of `local_bytes_per_thread`.
struct FunctionFacts {
    int registers_per_thread = 0;
    int local_bytes_per_thread = 0;
    int static_shared_bytes = 0;
    int max_threads_per_block = 0;
};

/// A kernel of a loaded module; valid while the module is.
class Function {
  public:
    Function() = default;
    explicit Function(CUfunc_st* handle) : handle_(handle) {}
    Result<FunctionFacts> facts() const;
    /// Needed before a launch with more than 48 KiB of dynamic shared memory.
    Result<void> allow_dynamic_shared_bytes(int bytes) const;
    /// Blocks of this kernel that fit on one multiprocessor at once.
    Result<int> max_blocks_per_multiprocessor(int block_threads, std::size_t dynamic_shared_bytes = 0) const;
    CUfunc_st* handle() const { return handle_; }

  private:
    CUfunc_st* handle_ = nullptr;
};

/// Device code in the context that was current at load.
class Module {
  public:
    /// `image` is a cubin, PTX text or a fat binary. PTX is compiled by the driver; its log is the evidence.
    static Result<Module> load(std::string_view image);
    Module(Module&& other) noexcept;
    Module& operator=(Module&& other) noexcept;
    ~Module();

    Result<Function> function(const std::string& name) const;
    CUmod_st* handle() const { return handle_; }

  private:
    Module() = default;
    CUmod_st* handle_ = nullptr;
};

} // namespace deepjit::gpu
