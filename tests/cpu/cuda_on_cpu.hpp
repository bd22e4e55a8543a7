#pragma once

/// Lets a host compiler build an emitted .cu exactly as emitted and run it on the CPU; for tests only.
///
/// Blocks run one after another. A kernel without barriers runs as a plain loop over its threads; with
/// `Threads::Fibers` every thread of a block is a fiber that is switched only at barriers and shuffles, so
/// that results do not depend on chance. A barrier that not all threads reach ends the program with a
/// message. Build with -ffp-contract=off: arithmetic is then exactly what the text says.

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

/// Emitted text leaves out its PTX where this is defined.
#define DEEPJIT_ON_CPU 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
/// Blocks run one after another, so one copy serves them all.
#define __shared__ static

struct uint2 {
    alignas(8) unsigned int x;
    unsigned int y;
};
struct uint4 {
    alignas(16) unsigned int x;
    unsigned int y, z, w;
};
struct float2 {
    alignas(8) float x;
    float y;
};
struct float4 {
    alignas(16) float x;
    float y, z, w;
};
struct dim3 {
    unsigned int x = 1, y = 1, z = 1;
};

inline dim3 threadIdx{0, 0, 0};
inline dim3 blockIdx{0, 0, 0};
inline dim3 blockDim;
inline dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cuda_on_cpu {

enum class Threads { PlainLoop, Fibers };

[[noreturn]] inline void fail(const char* message) {
    std::fprintf(stderr, "cuda_on_cpu: %s (block %u, thread %u)\n", message, blockIdx.x, threadIdx.x);
    std::abort();
}

/// Runs the threads of one block as fibers.
class FiberBlock {
  public:
    static FiberBlock*& current() {
        static FiberBlock* block = nullptr;
        return block;
    }

    template <class Kernel>
    void run(unsigned int thread_count, Kernel& kernel) {
        body_ = [](void* k) { (*static_cast<Kernel*>(k))(); };
        kernel_ = &kernel;
        start(thread_count);
        while (finished_ < fibers_.size()) {
            for (std::size_t i = 0; i < fibers_.size(); ++i)
                if (fibers_[i].state == State::Ready) resume(i);
            if (finished_ < fibers_.size() && !release())
                fail("deadlock: not every thread reaches the barrier");
        }
        current() = nullptr;
    }

    void block_barrier() { wait(State::AtBlockBarrier); }
    void warp_barrier() { wait(State::AtWarpBarrier); }

    std::uint64_t& lane_slot(unsigned int thread) { return fibers_[thread].slot; }
    std::size_t thread_count() const { return fibers_.size(); }

  private:
    enum class State { Ready, AtBlockBarrier, AtWarpBarrier, Finished };
    struct Fiber {
        ucontext_t context{};
        State state = State::Ready;
        std::uint64_t slot = 0; ///< what it gives to a shuffle
    };
    static constexpr std::size_t kStackBytes = std::size_t{64} << 10;

    void start(unsigned int thread_count) {
        current() = this;
        finished_ = 0;
        fibers_.assign(thread_count, Fiber{});
        stacks_.resize(thread_count * kStackBytes);
        for (std::size_t i = 0; i < fibers_.size(); ++i) {
            ucontext_t& context = fibers_[i].context;
            getcontext(&context);
            context.uc_stack.ss_sp = stacks_.data() + i * kStackBytes;
            context.uc_stack.ss_size = kStackBytes;
            context.uc_link = nullptr;
            makecontext(&context, &FiberBlock::enter, 0);
        }
    }

    static void enter() {
        FiberBlock& block = *current();
        block.body_(block.kernel_);
        block.fibers_[block.running_].state = State::Finished;
        ++block.finished_;
        setcontext(&block.scheduler_);
    }

    void resume(std::size_t fiber) {
        running_ = fiber;
        threadIdx.x = static_cast<unsigned int>(fiber);
        swapcontext(&scheduler_, &fibers_[fiber].context);
    }

    void wait(State state) {
        const std::size_t self = running_;
        fibers_[self].state = state;
        swapcontext(&fibers_[self].context, &scheduler_);
    }

    /// Whether all live fibers of [first, last) wait in `state`; if so they become ready.
    bool release_range(std::size_t first, std::size_t last, State state) {
        bool any = false;
        for (std::size_t i = first; i < last; ++i) {
            if (fibers_[i].state == State::Finished) continue;
            if (fibers_[i].state != state) return false;
            any = true;
        }
        for (std::size_t i = first; i < last && any; ++i)
            if (fibers_[i].state == state) fibers_[i].state = State::Ready;
        return any;
    }

    bool release() {
        bool released = false;
        for (std::size_t first = 0; first < fibers_.size(); first += warpSize) {
            const std::size_t last = std::min(first + static_cast<std::size_t>(warpSize), fibers_.size());
            released = release_range(first, last, State::AtWarpBarrier) || released;
        }
        return release_range(0, fibers_.size(), State::AtBlockBarrier) || released;
    }

    void (*body_)(void*) = nullptr;
    void* kernel_ = nullptr;
    ucontext_t scheduler_{};
    std::vector<Fiber> fibers_;
    std::vector<char> stacks_;
    std::size_t running_ = 0;
    std::size_t finished_ = 0;
};

/// Runs `kernel()`, a call of the kernel with its arguments, once for every thread of a 1-D launch.
template <class Kernel>
void launch(unsigned int grid, unsigned int block, Threads threads, Kernel kernel) {
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    FiberBlock fibers;
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) {
        if (threads == Threads::Fibers) {
            fibers.run(block, kernel);
            continue;
        }
        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x)
            kernel();
    }
}

inline FiberBlock& fibers_or_fail() {
    if (FiberBlock::current() == nullptr) fail("a barrier or shuffle in a kernel launched without fibers");
    return *FiberBlock::current();
}

/// The value of `source_lane` of this warp, as every lane of the warp calls this together.
template <class Value>
Value exchange(Value value, unsigned int source_lane) {
    static_assert(sizeof(Value) <= sizeof(std::uint64_t));
    FiberBlock& block = fibers_or_fail();
    const unsigned int self = threadIdx.x;
    std::memcpy(&block.lane_slot(self), &value, sizeof(Value));
    block.warp_barrier();
    const unsigned int source = self / warpSize * warpSize + source_lane;
    Value received = value;
    if (source_lane < static_cast<unsigned int>(warpSize) && source < block.thread_count())
        std::memcpy(&received, &block.lane_slot(source), sizeof(Value));
    block.warp_barrier();
    return received;
}

/// Calls a kernel with pointers taken from `arguments` in order.
template <class... Parameters, std::size_t... I>
void call(void (*kernel)(Parameters...), void* const* arguments, std::index_sequence<I...>) {
    kernel(static_cast<Parameters>(arguments[I])...);
}
template <class... Parameters>
void launch_kernel(void (*kernel)(Parameters...), unsigned int grid, unsigned int block, Threads threads,
                   void* const* arguments) {
    launch(grid, block, threads,
           [&] { call(kernel, arguments, std::make_index_sequence<sizeof...(Parameters)>{}); });
}

/// One kernel of a library of emitted kernels, found there under the symbol `cuda_on_cpu_entries`.
struct Entry {
    const char* name;
    void (*launch)(unsigned int grid, unsigned int block, void* const* arguments);
};

template <class To, class From>
To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}

// CUDA orders -0 below +0; the C library need not.
inline float ordered_maximum(float a, float b) {
    if (a == b) return std::signbit(a) ? b : a;
    return std::fmax(a, b);
}
inline float ordered_minimum(float a, float b) {
    if (a == b) return std::signbit(a) ? a : b;
    return std::fmin(a, b);
}

} // namespace cuda_on_cpu

inline void __syncthreads() {
    cuda_on_cpu::fibers_or_fail().block_barrier();
}
inline void __syncwarp(unsigned int = 0xffffffffu) {
    cuda_on_cpu::fibers_or_fail().warp_barrier();
}
template <class Value>
Value __shfl_sync(unsigned int, Value value, int lane) {
    return cuda_on_cpu::exchange(value, static_cast<unsigned int>(lane));
}
template <class Value>
Value __shfl_xor_sync(unsigned int, Value value, int mask) {
    return cuda_on_cpu::exchange(value, threadIdx.x % warpSize ^ static_cast<unsigned int>(mask));
}
template <class Value>
Value __shfl_down_sync(unsigned int, Value value, unsigned int delta) {
    return cuda_on_cpu::exchange(value, threadIdx.x % warpSize + delta);
}

inline float __fmul_rn(float a, float b) {
    return a * b;
}
inline float __fadd_rn(float a, float b) {
    return a + b;
}
inline float __fsub_rn(float a, float b) {
    return a - b;
}
inline float __fdiv_rn(float a, float b) {
    return a / b;
}
inline float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
inline float __uint_as_float(unsigned int bits) {
    return cuda_on_cpu::bits_as<float>(bits);
}
inline float __int_as_float(int bits) {
    return cuda_on_cpu::bits_as<float>(bits);
}
inline unsigned int __float_as_uint(float value) {
    return cuda_on_cpu::bits_as<unsigned int>(value);
}
inline int __float_as_int(float value) {
    return cuda_on_cpu::bits_as<int>(value);
}
inline float rsqrtf(float x) {
    return 1.0f / std::sqrt(x);
}
template <class Value>
Value __ldg(const Value* from) {
    return *from;
}
template <class Value>
Value __ldcs(const Value* from) {
    return *from;
}
template <class Value>
void __stcs(Value* to, Value value) {
    *to = value;
}
#define fmaxf cuda_on_cpu::ordered_maximum
#define fminf cuda_on_cpu::ordered_minimum

// --- what is PTX in emitted text --------------------------------------------------------------------------

inline float float16_bits_to_float(unsigned short bits) {
    const unsigned int sign = (bits & 0x8000u) << 16;
    const unsigned int exponent = (bits >> 10) & 0x1fu;
    const unsigned int fraction = bits & 0x3ffu;
    if (exponent == 0) {
        const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
        return sign != 0 ? -magnitude : magnitude;
    }
    const unsigned int widened = exponent == 31 ? 255u : exponent + 112u;
    return __uint_as_float(sign | widened << 23 | fraction << 13);
}

/// cvt.rn.f16.f32: to nearest, ties to even; every NaN becomes 0x7fff.
inline unsigned short float_to_float16_bits(float value) {
    const unsigned int word = __float_as_uint(value);
    const auto sign = static_cast<unsigned short>(word >> 16 & 0x8000u);
    const float magnitude = std::fabs(value);
    if (magnitude != magnitude) return 0x7fff;
    if (magnitude >= 65520.0f) return sign | 0x7c00u;
    if (magnitude < 6.103515625e-05f) // below the normal range the spacing is 2^-24
        return static_cast<unsigned short>(
            sign | static_cast<unsigned short>(std::nearbyint(magnitude * 16777216.0f)));
    const unsigned int bits = word & 0x7fffffffu;
    const unsigned int rounded = bits + 0xfffu + (bits >> 13 & 1u);
    return static_cast<unsigned short>(sign | ((rounded >> 13) - (112u << 10)));
}

/// cvt.rn.bf16.f32: to nearest, ties to even; every NaN becomes 0x7fff.
inline unsigned short float_to_bfloat16_bits(float value) {
    const unsigned int word = __float_as_uint(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}
