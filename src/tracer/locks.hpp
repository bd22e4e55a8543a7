#pragma once

#include <atomic>

#include <pthread.h>
#include <sched.h>

namespace deepjit::tracer {

/// For sections of some tens of instructions that only the flusher ever contends for.
class SpinLock {
  public:
    void lock() noexcept {
        for (int attempts = 0; flag_.test_and_set(std::memory_order_acquire); ++attempts) {
            if (attempts > 64) sched_yield();
        }
    }
    bool try_lock() noexcept { return !flag_.test_and_set(std::memory_order_acquire); }
    void unlock() noexcept { flag_.clear(std::memory_order_release); }

  private:
    std::atomic_flag flag_;
};

/// Needs no constructor or destructor to run, so that it can be used before main and after exit handlers.
class Mutex {
  public:
    void lock() noexcept { pthread_mutex_lock(&mutex_); }
    void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

template <class Lockable>
class Guard {
  public:
    explicit Guard(Lockable& lockable) noexcept : lockable_(lockable) { lockable_.lock(); }
    ~Guard() { lockable_.unlock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

  private:
    Lockable& lockable_;
};

} // namespace deepjit::tracer
