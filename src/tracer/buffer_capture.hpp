#pragma once

#include "src/tracer/locks.hpp"
#include "src/tracer/thread_state.hpp"
#include "src/wire/capture_plan.hpp"
#include "src/wire/encoder.hpp"

#include <cuda.h>

#include <cstdint>
#include <string_view>

namespace deepjit::tracer {

/// A launch as the capture sees it.
struct CaptureLaunch {
    const char* mangled_name = nullptr;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    CUstream stream = nullptr;
    std::uint32_t correlation_id = 0;
    std::uint32_t arguments_id = 0;
    std::string_view arguments; ///< the bytes
};

/// Saves the buffers of one run of a chain. The runs are found among the launches of each stream by the plan
/// (Knuth, Morris and Pratt's automaton: a mismatch costs no launch that could begin a run). Once the chain
/// has run as a whole, its next run is preceded and followed by waiting for its stream and copying every
/// allocation that its arguments reach, as far as the limit allows. Later steps' arguments are taken from the
/// run before; what a step is given that no run had is saved before that step. Runs in graphs are not seen,
/// and none is captured while a graph is being captured. The only part of the tracer that calls the driver
/// for the target's data.
class BufferCapture {
  public:
    /// Reads the plan; without a readable one nothing is ever captured.
    void open(const char* plan_path, const char* run_directory) noexcept;
    /// True until the buffers are saved, or saving them is given up.
    bool armed() const noexcept { return armed_.load(std::memory_order_relaxed); }
    /// True on the thread that is just saving: the driver calls that it makes are not the target's.
    static bool is_own_call() noexcept;

    void on_launch_begins(const CaptureLaunch& launch) noexcept;
    void on_launch_succeeded(CUstream stream) noexcept;

  private:
    static constexpr std::size_t kMaxBuffers = 4096;
    static constexpr std::size_t kChunkBytes = 1U << 20U;
    struct Buffer {
        std::uint64_t address;
        std::uint64_t bytes;
    };

    /// How many steps of the plan the launches of one stream have followed, this one included.
    struct Follower {
        CUstream stream;
        std::uint32_t steps;
        bool in_use;
    };
    static constexpr std::size_t kMaxStreams = 16;

    bool read_plan(int file) noexcept;
    Follower* follower_of(CUstream stream) noexcept;
    bool equals(std::uint32_t step, const wire::CapturePlanStep& launch) const noexcept;
    void follow(Follower& follower, const wire::CapturePlanStep& launch) const noexcept;
    void begin_run(Follower& follower) noexcept;
    void add_buffers_of(std::string_view arguments) noexcept;
    /// Those after the first `saved_count_`.
    void save_buffers(std::uint8_t flags) noexcept;
    bool save(const Buffer& buffer, wire::CapturedBuffer& record) noexcept;
    bool write(const Buffer& buffer, const char* path, XXH128_hash_t& hash) noexcept;

    std::atomic<bool> armed_{false};
    Mutex mutex_; ///< guards what follows
    const char* directory_ = nullptr;
    wire::CapturePlanHeader plan_;
    wire::CapturePlanStep* steps_ = nullptr;
    std::uint32_t* fallback_ = nullptr; ///< by steps followed: the most that still holds after a mismatch
    Follower followers_[kMaxStreams] = {};
    CUstream stream_ = nullptr; ///< of the run that is captured
    bool ran_once_ = false;
    bool capturing_ = false;
    int attempts_ = 0;
    wire::CapturedLaunch* launches_ = nullptr; ///< of the run that is captured
    Buffer* buffers_ = nullptr;
    std::size_t buffer_count_ = 0;
    std::size_t saved_count_ = 0;             ///< of the buffers, those saved at this moment of the run
    std::uint64_t saved_bytes_ = 0;           ///< of them
    wire::CapturedBuffer* records_ = nullptr; ///< 2 × kMaxBuffers
    std::size_t record_count_ = 0;
    std::byte* chunk_ = nullptr;
};

BufferCapture& buffer_capture() noexcept;

} // namespace deepjit::tracer
