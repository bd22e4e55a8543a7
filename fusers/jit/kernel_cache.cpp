#include "fusers/jit/kernel_cache.hpp"

#include "fusers/jit/cache_files.hpp"
#include "src/base/files.hpp"
#include "src/base/hash.hpp"
#include "src/gpu/nvrtc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

namespace deepjit::jit {
namespace {

namespace fs = std::filesystem;

/// Raised when the meaning of a key or an entry changes.
constexpr int kFormatVersion = 1;

} // namespace

struct KernelCache::Impl {
    fs::path folder; ///< fixed by the constructor; empty: memory only
    std::atomic<bool> folder_takes_files = true;
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const CompiledKernel>> kernels; ///< guarded by `mutex`
    std::string folder_problem;                                                     ///< likewise; told once

    std::shared_ptr<const CompiledKernel> find(const std::string& key) {
        const std::lock_guard guard(mutex);
        const auto found = kernels.find(key);
        return found == kernels.end() ? nullptr : found->second;
    }

    std::shared_ptr<const CompiledKernel> keep(const std::string& key, CompiledKernel kernel) {
        const std::lock_guard guard(mutex);
        return kernels.try_emplace(key, std::make_shared<const CompiledKernel>(std::move(kernel)))
            .first->second;
    }

    void take_folder_problem(CacheAnswer& answer) {
        const std::lock_guard guard(mutex);
        if (!folder_problem.empty()) answer.warnings.push_back(std::exchange(folder_problem, {}));
    }

    /// The entry on disk, if it is whole; what damages it becomes a warning.
    bool take_from_disk(const std::string& key, CacheAnswer& answer) {
        StoredEntry stored = read_entry(folder, key);
        if (stored.kernel) {
            answer.kernel = keep(key, *std::move(stored.kernel));
            answer.origin = Origin::Disk;
            answer.warnings.clear(); // somebody else has rebuilt what was damaged
            return true;
        }
        if (!stored.damage.empty())
            answer.warnings = {
                fmt::format("a damaged entry of the kernel cache was compiled again: {}", stored.damage)};
        return false;
    }

    void store(const std::string& key, const CompiledKernel& kernel, CacheAnswer& answer) {
        if (!folder_takes_files) return;
        const Result<void> written = write_entry(folder, key, kernel);
        if (written || !folder_takes_files.exchange(false)) return; // one warning a process
        answer.warnings.push_back(fmt::format(
            "the compiled kernel could not be stored, so the next start compiles it again: {}{}{}",
            written.error().message, written.error().evidence.empty() ? "" : ": ", written.error().evidence));
    }
};

KernelCache::KernelCache(fs::path folder) : impl_(std::make_unique<Impl>()) {
    if (folder.empty()) return;
    const Result<void> made = make_private_directory(folder);
    std::error_code error;
    if (made) {
        const fs::perms mode = fs::status(folder, error).permissions();
        const fs::perms others = fs::perms::group_all | fs::perms::others_all;
        if ((mode & others) != fs::perms::none)
            fs::permissions(folder, others, fs::perm_options::remove, error);
        impl_->folder = std::move(folder);
    } else {
        impl_->folder_problem =
            fmt::format("compiled kernels are kept in memory only: {}{}{}", made.error().message,
                        made.error().evidence.empty() ? "" : ": ", made.error().evidence);
    }
}

KernelCache::~KernelCache() = default;

KernelCache& KernelCache::of_user() {
    static KernelCache cache(user_cache_directory() / "kernels");
    return cache;
}

Result<std::string> KernelCache::key_of(const CompileRequest& request) {
    DEEPJIT_TRY(const gpu::Nvrtc* nvrtc, gpu::Nvrtc::instance());
    std::string fields;
    // Lengths keep the border between two fields.
    const auto add = [&fields](std::string_view field) {
        fields += fmt::format("{}:{};", field.size(), field);
    };
    add(fmt::format("{}", kFormatVersion));
    add(nvrtc->version());
    add(nvrtc->build_identity());
    add(request.architecture.name());
    for (const std::string& option : all_options(request))
        add(option);
    add(request.specialization);
    add(request.name); // stands in the messages that are stored, and in __FILE__
    add(request.source);
    return hash_hex(fields);
}

Result<CacheAnswer> KernelCache::compile(const CompileRequest& request) {
    DEEPJIT_TRY(const std::string key, key_of(request));
    CacheAnswer answer;
    impl_->take_folder_problem(answer);
    if ((answer.kernel = impl_->find(key))) {
        answer.origin = Origin::Memory;
        return answer;
    }
    const bool on_disk = !impl_->folder.empty();
    if (on_disk && impl_->take_from_disk(key, answer)) return answer;
    const std::optional<EntryLock> lock =
        on_disk ? EntryLock::acquire(impl_->folder, key) : std::optional<EntryLock>();
    if (lock && impl_->take_from_disk(key, answer)) return answer; // made while we waited
    DEEPJIT_TRY(CompiledKernel compiled, compile_uncached(request));
    if (on_disk) impl_->store(key, compiled, answer);
    answer.kernel = impl_->keep(key, std::move(compiled));
    answer.origin = Origin::Compiled;
    return answer;
}

std::vector<Result<CacheAnswer>> KernelCache::compile_all(const std::vector<CompileRequest>& requests,
                                                          int threads) {
    std::vector<std::optional<Result<CacheAnswer>>> slots(requests.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < requests.size(); i = next++)
            slots[i] = compile(requests[i]);
    };
    const std::size_t helpers =
        std::min<std::size_t>(requests.size(), static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<std::thread> pool;
    for (std::size_t i = 1; i < helpers; ++i)
        pool.emplace_back(work);
    work();
    for (std::thread& thread : pool)
        thread.join();
    std::vector<Result<CacheAnswer>> answers;
    for (auto& slot : slots)
        answers.push_back(*std::move(slot));
    return answers;
}

} // namespace deepjit::jit
