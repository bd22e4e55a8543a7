#pragma once

#include "src/tracer/id_table.hpp"
#include "src/tracer/image_extent.hpp"
#include "src/tracer/locks.hpp"

#include <cstdint>
#include <string_view>

#include <limits.h>

namespace deepjit::tracer {

/// Stores the device code that the target loads in the run folder, each content once, on the thread that
/// loads it: it takes as long as copying the bytes twice (hash, then file) and holds 64 KiB. Silent on
/// failure, like the recording.
class ImageStore {
  public:
    /// Images go to `directory`. Not called: nothing is stored.
    void open(const char* directory) noexcept;
    bool active() const noexcept { return directory_[0] != '\0'; }

    /// The image argument of a load call that succeeded.
    void store_argument(const void* image) noexcept;
    /// A cubin that CUPTI hands out for the duration of the call.
    void store_cubin(const void* cubin, std::size_t bytes, std::uint32_t module_id) noexcept;
    /// The file named in a load call that succeeded.
    void store_file(const char* path) noexcept;

    /// Records how many images were seen and lost, where that changed. For the flusher.
    void record_totals() noexcept;

  private:
    /// Bytes to be read from a file or from memory, a chunk at a time.
    struct Contents {
        int file = -1; ///< else `memory`
        const std::byte* memory = nullptr;
        std::uint64_t bytes = 0;
        bool read(std::uint64_t offset, std::byte* destination, std::size_t count) const noexcept;
    };

    void store(const Contents& contents, wire::ModuleImage record, std::string_view path) noexcept;
    bool hash_of(const Contents& contents, XXH128_hash_t& hash) noexcept;
    bool write(const Contents& contents, XXH128_hash_t hash) noexcept;
    bool write_temporary(const Contents& contents, XXH128_hash_t hash, const char* path) noexcept;
    void record_time_spent(std::int64_t start_ns) noexcept;

    static constexpr std::size_t kChunkBytes = 64 * 1024;

    char directory_[PATH_MAX - 80] = {};
    Mutex mutex_; ///< guards what follows
    IdTable written_{1U << 16U};
    IdTable recorded_{1U << 16U}; ///< hash and source together
    wire::ModuleImageTotals totals_;
    wire::ModuleImageTotals last_totals_;
    std::byte chunk_[kChunkBytes] = {};
};

ImageStore& image_store() noexcept;

} // namespace deepjit::tracer
