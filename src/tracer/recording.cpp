#include "src/tracer/recording.hpp"

#include "src/tracer/clock.hpp"
#include "src/tracer/file_writing.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace deepjit::tracer {
namespace {

constinit Recording the_recording;
thread_local ThreadState* this_thread = nullptr;
pthread_key_t thread_end_key;
pthread_once_t thread_end_key_once = PTHREAD_ONCE_INIT;

void release_thread_state(void* state) noexcept {
    this_thread = nullptr;
    static_cast<ThreadState*>(state)->in_use.store(false, std::memory_order_release);
}

} // namespace

Recording& recording() noexcept {
    return the_recording;
}

bool Recording::open(const char* directory) noexcept {
    const int process_id = getpid();
    char path[PATH_MAX];
    for (int image = 0; image < 1000 && file_ < 0; ++image) {
        const int length = image == 0 ? std::snprintf(path, sizeof path, "%s/process-%d%s", directory,
                                                      process_id, wire::kFileExtension)
                                      : std::snprintf(path, sizeof path, "%s/process-%d.%d%s", directory,
                                                      process_id, image, wire::kFileExtension);
        if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return false;
        file_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file_ < 0 && errno != EEXIST) return false;
    }
    if (file_ < 0) return false;
    // Says that this process still writes, until it ends in whichever way. Not flock(), whose lock a forked
    // child would keep.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    if (fcntl(file_, F_SETLK, &lock) != 0) swallow_error();
    const wire::FileHeader header;
    if (exceeds_file_size_limit(sizeof header) || write_all(file_, &header, sizeof header) != 0) return false;
    struct stat status {};
    if (fstat(file_, &status) != 0) return false;
    file_device_ = status.st_dev;
    file_inode_ = status.st_ino;
    file_bytes_ = sizeof header;
    pthread_once(&thread_end_key_once, [] { pthread_key_create(&thread_end_key, release_thread_state); });
    active_.store(true);
    return true;
}

ThreadState* Recording::thread_state() noexcept {
    return this_thread != nullptr ? this_thread : acquire_thread_state();
}

ThreadState* Recording::acquire_thread_state() noexcept {
    ThreadState* state = threads_.load(std::memory_order_acquire);
    for (; state != nullptr; state = state->next) {
        bool expected = false;
        if (state->in_use.compare_exchange_strong(expected, true, std::memory_order_acquire)) break;
    }
    if (state == nullptr) {
        void* const memory = std::calloc(1, sizeof(ThreadState));
        if (memory == nullptr) return nullptr;
        state = static_cast<ThreadState*>(memory); // all its members start as zero bytes
        state->in_use.store(true, std::memory_order_relaxed);
        state->thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
        state->next = threads_.load(std::memory_order_relaxed);
        while (!threads_.compare_exchange_weak(state->next, state, std::memory_order_release)) {
        }
    } else {
        Guard guard(state->lock);
        write_out(state->thread_id, state->records, state->used_bytes);
        state->used_bytes = 0;
        state->open_calls = 0;
        state->nvtx_open_domains = 0;
        state->thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    }
    this_thread = state;
    pthread_setspecific(thread_end_key, state);
    return state;
}

std::byte* Recording::room_for_definition(std::size_t bytes) noexcept {
    if (bytes > definitions_capacity_ - definitions_bytes_) {
        const std::size_t capacity = (definitions_capacity_ + bytes) * 2;
        auto* const grown = static_cast<std::byte*>(std::realloc(definitions_, capacity));
        if (grown == nullptr) return nullptr;
        definitions_ = grown;
        definitions_capacity_ = capacity;
    }
    return definitions_ + definitions_bytes_;
}

void Recording::flush() noexcept {
    if (!active()) return; // in a forked child the mutex may be held by a thread that is gone
    Guard flush_guard(flush_mutex_);
    for (ThreadState* state = threads_.load(std::memory_order_acquire); state != nullptr;
         state = state->next) {
        flush_thread(*state);
    }
    write_out(0, nullptr, 0);
}

void Recording::flush_thread(ThreadState& state) noexcept {
    // The file first, so that blocks of one thread keep their order. That is against the lock order, for a
    // thread with a full buffer holds it and waits for the file: hence no waiting for the buffer.
    while (true) {
        {
            Guard file_guard(file_mutex_);
            if (state.lock.try_lock()) {
                // A copy, so that the thread waits for a memcpy at most and never for the disk.
                const std::uint32_t thread_id = state.thread_id;
                const std::uint32_t bytes = state.used_bytes;
                std::memcpy(flush_copy_, state.records, bytes);
                state.used_bytes = 0;
                state.lock.unlock();
                write_definitions();
                if (bytes != 0) write_block(thread_id, flush_copy_, bytes);
                return;
            }
        }
        sched_yield();
    }
}

void Recording::forget_parent() noexcept {
    if (file_ >= 0 && file_is_still_ours()) ::close(file_);
    file_ = -1;
    new (&file_mutex_) Mutex;
    new (&flush_mutex_) Mutex;
    definitions_lock_.unlock();
    definitions_bytes_ = 0;
    swallowed_errors_.store(0);
    for (ThreadState* state = threads_.load(); state != nullptr; state = state->next) {
        const bool is_mine = state == this_thread;
        state->lock.unlock();
        state->used_bytes = 0;
        state->open_calls = 0;
        state->nvtx_open_domains = 0;
        state->launches_called.store(0);
        state->kernels_recorded.store(0);
        state->zero_timestamps.store(0);
        std::memset(static_cast<void*>(state->known_names), 0, sizeof state->known_names);
        std::memset(static_cast<void*>(state->known_arguments), 0, sizeof state->known_arguments);
        if (is_mine) state->thread_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
        state->in_use.store(is_mine);
    }
}

Recording::Counters Recording::counters() const noexcept {
    Counters sums;
    for (const ThreadState* state = threads_.load(std::memory_order_acquire); state != nullptr;
         state = state->next) {
        sums.launches_called += state->launches_called.load(std::memory_order_relaxed);
        sums.kernels_recorded += state->kernels_recorded.load(std::memory_order_relaxed);
        sums.zero_timestamps += state->zero_timestamps.load(std::memory_order_relaxed);
    }
    return sums;
}

void Recording::write_out(std::uint32_t thread_id, const std::byte* records, std::size_t bytes) noexcept {
    Guard guard(file_mutex_);
    write_definitions();
    if (bytes != 0) write_block(thread_id, records, bytes);
}

void Recording::write_definitions() noexcept {
    std::byte* records = nullptr;
    std::size_t bytes = 0;
    {
        Guard guard(definitions_lock_);
        records = definitions_;
        bytes = definitions_bytes_;
        definitions_ = nullptr;
        definitions_bytes_ = definitions_capacity_ = 0;
    }
    for (std::size_t at = 0; at < bytes;) {
        std::size_t block_bytes = 0;
        while (at + block_bytes < bytes) {
            wire::RecordHeader header;
            std::memcpy(&header, records + at + block_bytes, sizeof header);
            if (block_bytes + header.size_bytes > wire::kMaxPayloadBytes) break;
            block_bytes += header.size_bytes;
        }
        write_block(0, records + at, block_bytes);
        at += block_bytes;
    }
    std::free(records);
}

void Recording::write_block(std::uint32_t thread_id, const std::byte* records, std::size_t bytes) noexcept {
    if (!active()) return;
    if (!file_is_still_ours()) {
        active_.store(false);
        return swallow_error();
    }
    const wire::BlockHeader header = wire::block_header(thread_id, {records, bytes});
    const std::uint64_t end = file_bytes_ + sizeof header + bytes;
    if (size_limit_.is_exceeded_by(end, file_inode_)) return stop(wire::StopReason::SizeLimit, 0);
    int error_number = exceeds_file_size_limit(end) ? EFBIG : write_all(file_, &header, sizeof header);
    if (error_number == 0) error_number = write_all(file_, records, bytes);
    if (error_number != 0) return stop(wire::StopReason::WriteFailed, error_number);
    file_bytes_ = end;
}

bool Recording::file_is_still_ours() const noexcept {
    // A program that turns into a daemon closes every descriptor; the number may now be a file of its own.
    struct stat status {};
    return fstat(file_, &status) == 0 && status.st_dev == file_device_ && status.st_ino == file_inode_;
}

void Recording::stop(wire::StopReason reason, int error_number) noexcept {
    active_.store(false);
    wire::FileHeader header;
    header.stop_reason = reason;
    header.stop_errno = error_number;
    header.stop_time_ns = now_ns();
    // Overwrites bytes that already have their place on the disk, so that it works on a full one.
    if (pwrite(file_, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) swallow_error();
    if (ftruncate(file_, static_cast<off_t>(file_bytes_)) != 0) swallow_error();
}

} // namespace deepjit::tracer
