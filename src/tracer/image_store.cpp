#include "src/tracer/image_store.hpp"

#include "src/base/image_format.hpp"
#include "src/tracer/clock.hpp"
#include "src/tracer/file_writing.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/target_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

constinit ImageStore the_store;

static_assert(sizeof(XXH128_canonical_t) == sizeof(wire::ModuleImage::hash));

void hexadecimal(XXH128_hash_t hash, char (&text)[33]) noexcept {
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
}

} // namespace

ImageStore& image_store() noexcept {
    return the_store;
}

void ImageStore::open(const char* directory) noexcept {
    // The target may change its working directory, so the path must not depend on it.
    char* const path = realpath(directory, nullptr);
    if (path == nullptr) return recording().swallow_error();
    if (std::strlen(path) < sizeof directory_)
        std::strcpy(directory_, path);
    else
        recording().swallow_error();
    std::free(path);
}

void ImageStore::store_argument(const void* image) noexcept {
    if (!active()) return;
    const std::int64_t start_ns = now_ns();
    const ImageExtent extent = image_extent(image);
    Guard guard(mutex_);
    ++totals_.loads;
    if (extent.data == nullptr) {
        ++totals_.unreadable;
        return;
    }
    wire::ModuleImage record;
    record.kind = extent.kind;
    record.source = wire::ImageSource::LoadCall;
    store({-1, extent.data, extent.bytes}, record, {});
    record_time_spent(start_ns);
}

void ImageStore::store_cubin(const void* cubin, std::size_t bytes, std::uint32_t module_id) noexcept {
    if (!active()) return;
    const std::int64_t start_ns = now_ns();
    Guard guard(mutex_);
    ++totals_.loads;
    wire::ModuleImage record;
    if (cubin == nullptr || bytes > image_format::kMaxImageBytes ||
        !image_kind_of(static_cast<const std::byte*>(cubin), bytes, record.kind)) {
        ++totals_.unreadable;
        return;
    }
    record.source = wire::ImageSource::ModuleLoaded;
    record.module_id = module_id;
    store({-1, static_cast<const std::byte*>(cubin), bytes}, record, {});
    record_time_spent(start_ns);
}

void ImageStore::store_file(const char* path) noexcept {
    if (!active() || path == nullptr) return;
    const std::int64_t start_ns = now_ns();
    Guard guard(mutex_);
    ++totals_.loads;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status {};
    Contents contents{file, nullptr, 0};
    wire::ModuleImage record;
    bool readable = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    if (readable) {
        contents.bytes = static_cast<std::uint64_t>(status.st_size);
        const auto count = std::min<std::size_t>(contents.bytes, kChunkBytes);
        readable = contents.bytes <= image_format::kMaxImageBytes && contents.read(0, chunk_, count) &&
                   image_kind_of(chunk_, count, record.kind);
    }
    record.source = wire::ImageSource::File;
    if (readable)
        store(contents, record, path);
    else
        ++totals_.unreadable;
    if (file >= 0) ::close(file);
    record_time_spent(start_ns);
}

void ImageStore::record_totals() noexcept {
    if (!active()) return;
    wire::ModuleImageTotals totals;
    {
        Guard guard(mutex_);
        if (std::memcmp(&totals_, &last_totals_, sizeof totals_) == 0) return;
        totals = last_totals_ = totals_;
    }
    recording().define(totals);
}

bool ImageStore::Contents::read(std::uint64_t offset, std::byte* destination,
                                std::size_t count) const noexcept {
    if (file < 0) return copy_target_memory(destination, memory + offset, count) == count;
    while (count > 0) {
        const ssize_t got = pread(file, destination, count, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        destination += got;
        offset += static_cast<std::uint64_t>(got);
        count -= static_cast<std::size_t>(got);
    }
    return true;
}

void ImageStore::store(const Contents& contents, wire::ModuleImage record, std::string_view path) noexcept {
    XXH128_hash_t hash{};
    if (!hash_of(contents, hash)) {
        ++totals_.unreadable;
        return;
    }
    if (written_.find(hash) == 0) {
        if (!write(contents, hash)) {
            ++totals_.unwritten;
            return;
        }
        written_.find_or_add(hash);
    }
    XXH128_hash_t key = hash;
    key.low64 ^= static_cast<std::uint64_t>(record.source);
    if (!recorded_.find_or_add(key).is_new) return;
    XXH128_canonicalFromHash(reinterpret_cast<XXH128_canonical_t*>(record.hash), hash);
    record.bytes = contents.bytes;
    recording().define(record, path);
}

bool ImageStore::hash_of(const Contents& contents, XXH128_hash_t& hash) noexcept {
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (std::uint64_t offset = 0; offset < contents.bytes;) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, contents.bytes - offset));
        if (!contents.read(offset, chunk_, count)) return false;
        XXH3_128bits_update(&state, chunk_, count);
        offset += count;
    }
    hash = XXH3_128bits_digest(&state);
    return true;
}

bool ImageStore::write(const Contents& contents, XXH128_hash_t hash) noexcept {
    char digits[33];
    hexadecimal(hash, digits);
    char path[PATH_MAX];
    std::snprintf(path, sizeof path, "%s/%s%s%s", directory_, wire::kImageFilePrefix, digits,
                  wire::kImageFileExtension);
    struct stat status {};
    // Another process of the run has stored it.
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        static_cast<std::uint64_t>(status.st_size) == contents.bytes)
        return true;
    char temporary[PATH_MAX];
    std::snprintf(temporary, sizeof temporary, "%s/%s%s.%d.tmp", directory_, wire::kImageFilePrefix, digits,
                  static_cast<int>(getpid()));
    if (!write_temporary(contents, hash, temporary)) return false;
    if (rename(temporary, path) == 0) return true;
    unlink(temporary);
    return false;
}

bool ImageStore::write_temporary(const Contents& contents, XXH128_hash_t hash, const char* path) noexcept {
    if (exceeds_file_size_limit(contents.bytes)) return false;
    const int file = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return false;
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    bool whole = true;
    for (std::uint64_t offset = 0; whole && offset < contents.bytes;) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, contents.bytes - offset));
        whole = contents.read(offset, chunk_, count) && write_all(file, chunk_, count) == 0;
        XXH3_128bits_update(&state, chunk_, count);
        offset += count;
    }
    whole = ::close(file) == 0 && whole;
    // The file or the memory may have changed since its hash was taken.
    whole = whole && XXH128_isEqual(XXH3_128bits_digest(&state), hash) != 0;
    if (!whole) unlink(path);
    return whole;
}

void ImageStore::record_time_spent(std::int64_t start_ns) noexcept {
    wire::Overhead record;
    record.start_ns = start_ns;
    record.end_ns = now_ns();
    recording().append(record, "deepjit module image");
}

} // namespace deepjit::tracer
