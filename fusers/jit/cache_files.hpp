#pragma once

#include "fusers/jit/compiler.hpp"

#include <filesystem>
#include <optional>
#include <string>

/// Level 2 of the cache: two files an entry. KEY.cubin (or KEY.ptx) is the bare image, usable with cuobjdump;
/// KEY.entry holds everything else with checksums of both and is written last, so that it vouches for the
/// image.
namespace deepjit::jit {

/// An entry as found on disk.
struct StoredEntry {
    std::optional<CompiledKernel> kernel; ///< absent where there is none, or where it is damaged
    std::string damage;                   ///< what is wrong with an entry that exists
};

StoredEntry read_entry(const std::filesystem::path& folder, const std::string& key);

/// Each file is written beside its name and renamed.
Result<void> write_entry(const std::filesystem::path& folder, const std::string& key,
                         const CompiledKernel& kernel);

/// Held while one process or thread makes the entry of a key; the others wait in acquire().
class EntryLock {
  public:
    /// Waits at most `wait_seconds`. Nothing where the folder cannot hold a lock file or the wait was too
    /// long: the caller then works without the lock, which costs a compilation twice and nothing else.
    static std::optional<EntryLock> acquire(const std::filesystem::path& folder, const std::string& key,
                                            double wait_seconds = 60);
    EntryLock(EntryLock&& other) noexcept;
    EntryLock& operator=(EntryLock&&) = delete;
    ~EntryLock(); ///< removes the lock file

  private:
    EntryLock(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
    int descriptor_;
    std::filesystem::path path_;
};

} // namespace deepjit::jit
