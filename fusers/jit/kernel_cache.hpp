#pragma once

#include "fusers/jit/compiler.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace deepjit::jit {

enum class Origin { Compiled, Memory, Disk };

struct CacheAnswer {
    std::shared_ptr<const CompiledKernel> kernel;
    Origin origin = Origin::Compiled;
    /// What a person should know though the kernel is there: an entry that was damaged and rebuilt, a folder
    /// that cannot be written. Printed by whoever called.
    std::vector<std::string> warnings;
};

/// Compiled kernels by content: a map in this process over cubin files on disk. Thread-safe, and safe for
/// many processes that start cold: one of them compiles a key, the others wait for its file. The disk never
/// makes a compile fail; it only makes it slower.
class KernelCache {
  public:
    /// Files go into `folder` (0700; one that belongs to somebody else or is a symlink is not used). An empty
    /// path means memory only.
    explicit KernelCache(std::filesystem::path folder);
    ~KernelCache();
    KernelCache(const KernelCache&) = delete;
    KernelCache& operator=(const KernelCache&) = delete;

    /// The cache of this user: `kernels` in user_cache_directory().
    static KernelCache& of_user();

    Result<CacheAnswer> compile(const CompileRequest& request);

    /// Several at once, on at most `threads` threads; answers in the order of the requests.
    std::vector<Result<CacheAnswer>> compile_all(const std::vector<CompileRequest>& requests,
                                                 int threads = 8);

    /// Hash over: format version, source, architecture, options in order, NVRTC version and build,
    /// specialization. No paths and no times.
    static Result<std::string> key_of(const CompileRequest& request);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace deepjit::jit
