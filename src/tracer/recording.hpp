#pragma once

#include "src/tracer/size_limit.hpp"
#include "src/tracer/thread_state.hpp"
#include "src/wire/encoder.hpp"

#include <cstdint>
#include <string_view>

#include <sys/types.h>

namespace deepjit::tracer {

/// The process's wire file and the buffers before it. Every function may be called from any thread and is
/// silent on failure: the target never learns of it. Lock order: a thread's buffer, the file, definitions.
class Recording {
  public:
    /// Creates `directory`/process-<pid>.djw for the owner alone; with .1, .2, … before the extension where
    /// an earlier image of the same process left one. False where that cannot be.
    bool open(const char* directory) noexcept;

    /// False before open(), after a failed write, and in a forked child.
    bool active() const noexcept { return active_.load(std::memory_order_relaxed); }

    /// This thread's state, or null where there is no memory for one.
    ThreadState* thread_state() noexcept;

    /// Buffers a record of this thread.
    template <wire::WireRecord Record>
    void append(const Record& record, std::string_view tail = {}) noexcept;

    /// Buffers a record that others refer to: it reaches the file before any of them.
    template <wire::WireRecord Record>
    void define(const Record& record, std::string_view tail = {}) noexcept;

    /// Writes out what all threads have buffered.
    void flush() noexcept;

    /// Sums over all threads.
    struct Counters {
        std::uint64_t launches_called = 0;
        std::uint64_t kernels_recorded = 0;
        std::uint64_t zero_timestamps = 0;
    };
    Counters counters() const noexcept;

    /// Counts a failure that was kept from the target.
    void swallow_error() noexcept { swallowed_errors_.fetch_add(1, std::memory_order_relaxed); }
    std::uint64_t swallowed_errors() const noexcept {
        return swallowed_errors_.load(std::memory_order_relaxed);
    }

    /// Once the files of `directory` hold more than `max_bytes`, recording stops. Call after open().
    void limit_size(const char* directory, std::uint64_t max_bytes) noexcept {
        size_limit_.open(directory, max_bytes);
    }

    /// In a forked child: never write again. Takes no lock, since a thread that is gone may hold it.
    void abandon() noexcept { active_.store(false); }

    /// In a forked child, whose only thread calls: makes ready for another open(). What the parent had
    /// buffered is the parent's to write.
    void forget_parent() noexcept;

  private:
    ThreadState* acquire_thread_state() noexcept;
    std::byte* room_for_definition(std::size_t bytes) noexcept;
    void write_out(std::uint32_t thread_id, const std::byte* records, std::size_t bytes) noexcept;
    void flush_thread(ThreadState& state) noexcept;
    void write_definitions() noexcept;
    void write_block(std::uint32_t thread_id, const std::byte* records, std::size_t bytes) noexcept;
    bool file_is_still_ours() const noexcept;
    void stop(wire::StopReason reason, int error_number) noexcept;

    std::atomic<bool> active_{false};
    std::atomic<std::uint64_t> swallowed_errors_{0};
    std::atomic<ThreadState*> threads_{nullptr};

    Mutex file_mutex_;
    int file_ = -1;
    dev_t file_device_ = 0;
    ino_t file_inode_ = 0;
    std::uint64_t file_bytes_ = 0;
    SizeLimit size_limit_;

    SpinLock definitions_lock_; ///< guards the three fields below
    std::byte* definitions_ = nullptr;
    std::size_t definitions_bytes_ = 0;
    std::size_t definitions_capacity_ = 0;

    Mutex flush_mutex_; ///< guards flush_copy_
    std::byte flush_copy_[sizeof(ThreadState::records)] = {};
};

template <wire::WireRecord Record>
void Recording::append(const Record& record, std::string_view tail) noexcept {
    if (!active()) return;
    ThreadState* const state = thread_state();
    if (state == nullptr) return swallow_error();
    const std::size_t bytes = wire::encoded_bytes<Record>(tail.size());
    Guard guard(state->lock);
    if (bytes > sizeof state->records - state->used_bytes) {
        write_out(state->thread_id, state->records, state->used_bytes);
        state->used_bytes = 0;
    }
    if (bytes > sizeof state->records) return swallow_error();
    state->used_bytes +=
        static_cast<std::uint32_t>(wire::encode(state->records + state->used_bytes, record, tail));
}

template <wire::WireRecord Record>
void Recording::define(const Record& record, std::string_view tail) noexcept {
    if (!active()) return;
    const std::size_t bytes = wire::encoded_bytes<Record>(tail.size());
    Guard guard(definitions_lock_);
    std::byte* const room = room_for_definition(bytes);
    if (room == nullptr) return swallow_error();
    definitions_bytes_ += wire::encode(room, record, tail);
}

/// The one recording of this process.
Recording& recording() noexcept;

} // namespace deepjit::tracer
