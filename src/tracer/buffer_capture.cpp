#include "src/tracer/buffer_capture.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/file_writing.hpp"
#include "src/tracer/recording.hpp"
#include "src/tracer/session.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

constinit BufferCapture the_capture;
thread_local bool calls_the_driver = false;

/// A run that was begun and did not come to its end costs as much as one that did.
constexpr int kMaxAttempts = 3;

bool read_all(int file, void* destination, std::size_t bytes) noexcept {
    auto* at = static_cast<char*>(destination);
    while (bytes > 0) {
        const ssize_t got = ::read(file, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

template <class T>
T* zeroed(std::size_t count) noexcept {
    return static_cast<T*>(std::calloc(count, sizeof(T)));
}

} // namespace

BufferCapture& buffer_capture() noexcept {
    return the_capture;
}

bool BufferCapture::is_own_call() noexcept {
    return calls_the_driver;
}

void BufferCapture::open(const char* plan_path, const char* run_directory) noexcept {
    const int file = ::open(plan_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return recording().swallow_error();
    const bool whole = read_plan(file);
    ::close(file);
    directory_ = realpath(run_directory, nullptr);
    if (whole && directory_ != nullptr)
        armed_.store(true);
    else
        recording().swallow_error();
}

bool BufferCapture::read_plan(int file) noexcept {
    if (!read_all(file, &plan_, sizeof plan_) || plan_.magic != wire::CapturePlanHeader::kMagic ||
        plan_.version != 1 || plan_.step_count == 0 || plan_.step_count > wire::kMaxCaptureSteps ||
        plan_.lead_count >= plan_.step_count)
        return false;
    steps_ = zeroed<wire::CapturePlanStep>(plan_.step_count);
    fallback_ = zeroed<std::uint32_t>(plan_.step_count + 1);
    launches_ = zeroed<wire::CapturedLaunch>(plan_.step_count);
    buffers_ = zeroed<Buffer>(kMaxBuffers);
    records_ = zeroed<wire::CapturedBuffer>(2 * kMaxBuffers);
    chunk_ = zeroed<std::byte>(kChunkBytes);
    if (steps_ == nullptr || fallback_ == nullptr || launches_ == nullptr || buffers_ == nullptr ||
        records_ == nullptr || chunk_ == nullptr ||
        !read_all(file, steps_, plan_.step_count * sizeof *steps_))
        return false;
    for (std::uint32_t count = 2; count <= plan_.step_count; ++count) {
        std::uint32_t prefix = fallback_[count - 1];
        while (prefix > 0 && !equals(prefix, steps_[count - 1]))
            prefix = fallback_[prefix];
        fallback_[count] = equals(prefix, steps_[count - 1]) ? prefix + 1 : 0;
    }
    return true;
}

bool BufferCapture::equals(std::uint32_t step, const wire::CapturePlanStep& launch) const noexcept {
    return std::memcmp(&steps_[step], &launch, sizeof launch) == 0;
}

BufferCapture::Follower* BufferCapture::follower_of(CUstream stream) noexcept {
    for (Follower& follower : followers_) {
        if (!follower.in_use) follower = {stream, 0, true};
        if (follower.stream == stream) return &follower;
    }
    return nullptr; // of a program with more streams, the first ones are watched
}

void BufferCapture::follow(Follower& follower, const wire::CapturePlanStep& launch) const noexcept {
    std::uint32_t steps = follower.steps;
    if (steps == plan_.step_count) steps = fallback_[steps];
    while (steps > 0 && !equals(steps, launch))
        steps = fallback_[steps];
    follower.steps = equals(steps, launch) ? steps + 1 : 0;
}

void BufferCapture::on_launch_begins(const CaptureLaunch& launch) noexcept {
    if (launch.mangled_name == nullptr) return;
    wire::CapturePlanStep seen;
    seen.name_hash = XXH3_64bits(launch.mangled_name, std::strlen(launch.mangled_name));
    std::memcpy(seen.grid, launch.grid, sizeof seen.grid);
    std::memcpy(seen.block, launch.block, sizeof seen.block);

    Guard guard(mutex_);
    Follower* const follower = armed() ? follower_of(launch.stream) : nullptr;
    if (follower == nullptr) return;
    const std::uint32_t steps_before = follower->steps;
    follow(*follower, seen);
    if (capturing_ && launch.stream == stream_ && follower->steps != steps_before + 1) {
        capturing_ = false;
        if (attempts_ == kMaxAttempts) return armed_.store(false);
    }
    if (follower->steps <= plan_.lead_count) return;
    calls_the_driver = true;
    add_buffers_of(launch.arguments);
    if (follower->steps == plan_.lead_count + 1 && !capturing_) begin_run(*follower);
    // Allocated since the run began, or never passed before: no earlier step was given it.
    if (capturing_ && launch.stream == stream_ && saved_count_ < buffer_count_) save_buffers(0);
    calls_the_driver = false;
    if (capturing_ && launch.stream == stream_) {
        const std::uint32_t step = follower->steps - 1 - plan_.lead_count;
        launches_[step] = {{}, step, launch.correlation_id, launch.arguments_id};
    }
}

void BufferCapture::begin_run(Follower& follower) noexcept {
    if (!ran_once_ || session().open_captures.load() != 0) return;
    capturing_ = true;
    stream_ = follower.stream;
    ++attempts_;
    record_count_ = 0;
    saved_count_ = 0;
    saved_bytes_ = 0;
}

void BufferCapture::on_launch_succeeded(CUstream stream) noexcept {
    Guard guard(mutex_);
    const Follower* const follower = armed() ? follower_of(stream) : nullptr;
    if (follower == nullptr || follower->steps != plan_.step_count) return;
    ran_once_ = true;
    if (!capturing_ || stream != stream_) return;
    calls_the_driver = true;
    saved_count_ = 0;
    saved_bytes_ = 0;
    save_buffers(wire::CapturedBuffer::kAfter);
    calls_the_driver = false;
    for (std::uint32_t i = 0; i < plan_.step_count - plan_.lead_count; ++i)
        recording().define(launches_[i]);
    for (std::size_t i = 0; i < record_count_; ++i)
        recording().define(records_[i]);
    armed_.store(false);
}

void BufferCapture::add_buffers_of(std::string_view arguments) noexcept {
    const auto range_of = session().driver.mem_get_address_range;
    if (range_of == nullptr) return;
    for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= arguments.size(); at += sizeof(CUdeviceptr)) {
        CUdeviceptr word = 0;
        std::memcpy(&word, arguments.data() + at, sizeof word);
        CUdeviceptr start = 0;
        std::size_t bytes = 0;
        if (word == 0 || range_of(&start, &bytes, word) != CUDA_SUCCESS) continue;
        const Buffer* const end = buffers_ + buffer_count_;
        const bool known = std::any_of(buffers_, buffers_ + buffer_count_, [&](const Buffer& buffer) {
            return buffer.address == start && buffer.bytes == bytes;
        });
        if (!known && end < buffers_ + kMaxBuffers) buffers_[buffer_count_++] = {start, bytes};
    }
}

void BufferCapture::save_buffers(std::uint8_t flags) noexcept {
    const std::int64_t start_ns = now_ns();
    const auto wait = session().driver.stream_synchronize;
    const bool may_read = wait != nullptr && wait(stream_) == CUDA_SUCCESS;
    for (; saved_count_ < buffer_count_; ++saved_count_) {
        const Buffer& buffer = buffers_[saved_count_];
        // Those of an earlier run may have been freed since, and their address be part of another.
        CUdeviceptr start = 0;
        std::size_t bytes = 0;
        const auto range_of = session().driver.mem_get_address_range;
        if (range_of(&start, &bytes, buffer.address) != CUDA_SUCCESS || start != buffer.address ||
            bytes != buffer.bytes)
            continue;
        wire::CapturedBuffer& record = records_[record_count_++];
        record = {};
        record.header.flags = flags;
        record.address = buffer.address;
        record.bytes = buffer.bytes;
        const bool fits = saved_bytes_ + buffer.bytes <= plan_.limit_bytes;
        if (may_read && fits && save(buffer, record))
            saved_bytes_ += buffer.bytes;
        else
            record.header.flags |= wire::CapturedBuffer::kMissing;
    }
    wire::Overhead overhead;
    overhead.start_ns = start_ns;
    overhead.end_ns = now_ns();
    recording().append(overhead, "deepjit buffer capture");
}

bool BufferCapture::save(const Buffer& buffer, wire::CapturedBuffer& record) noexcept {
    char temporary[PATH_MAX];
    std::snprintf(temporary, sizeof temporary, "%s/%s%d.tmp", directory_, wire::kBufferFilePrefix,
                  static_cast<int>(getpid()));
    XXH128_hash_t hash{};
    if (!write(buffer, temporary, hash)) {
        unlink(temporary);
        return false;
    }
    char path[PATH_MAX];
    std::snprintf(path, sizeof path, "%s/%s%016llx%016llx%s", directory_, wire::kBufferFilePrefix,
                  static_cast<unsigned long long>(hash.high64), static_cast<unsigned long long>(hash.low64),
                  wire::kImageFileExtension);
    if (rename(temporary, path) != 0) {
        unlink(temporary);
        return false;
    }
    XXH128_canonicalFromHash(reinterpret_cast<XXH128_canonical_t*>(record.hash), hash);
    return true;
}

bool BufferCapture::write(const Buffer& buffer, const char* path, XXH128_hash_t& hash) noexcept {
    const auto copy = session().driver.memcpy_dtoh;
    if (copy == nullptr || exceeds_file_size_limit(buffer.bytes)) return false;
    const int file = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return false;
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    bool whole = true;
    for (std::uint64_t offset = 0; whole && offset < buffer.bytes;) {
        const auto count =
            static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, buffer.bytes - offset));
        whole = copy(chunk_, buffer.address + offset, count) == CUDA_SUCCESS &&
                write_all(file, chunk_, count) == 0;
        XXH3_128bits_update(&state, chunk_, count);
        offset += count;
    }
    hash = XXH3_128bits_digest(&state);
    return ::close(file) == 0 && whole;
}

} // namespace deepjit::tracer
