#pragma once

#include "src/gpu/module.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace deepjit::gpu {

class GraphExec;

/// A stream that does not synchronise with the default one.
class Stream {
  public:
    static Result<Stream> create();
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    ~Stream();

    Result<void> synchronize() const;
    /// Work issued to the stream until end_capture() becomes a graph and does not run. Thread-local mode:
    /// other threads are not disturbed.
    Result<void> begin_capture();
    Result<GraphExec> end_capture();
    CUstream_st* handle() const { return handle_; }

  private:
    Stream() = default;
    CUstream_st* handle_ = nullptr;
};

/// A point in a stream with a time stamp.
class Event {
  public:
    static Result<Event> create();
    Event(Event&& other) noexcept;
    Event& operator=(Event&& other) noexcept;
    ~Event();

    Result<void> record(const Stream& stream);
    Result<void> synchronize() const;
    /// Device time from `start` to this event, about 0.5 µs resolution. Both must have completed.
    Result<double> nanoseconds_since(const Event& start) const;
    CUevent_st* handle() const { return handle_; }

  private:
    Event() = default;
    CUevent_st* handle_ = nullptr;
};

/// An instantiated CUDA Graph.
class GraphExec {
  public:
    GraphExec(GraphExec&& other) noexcept;
    GraphExec& operator=(GraphExec&& other) noexcept;
    ~GraphExec();

    /// Moves the graph to the device ahead of the first launch.
    Result<void> upload(const Stream& stream) const;
    Result<void> launch(const Stream& stream) const;
    std::size_t node_count() const { return node_count_; }

  private:
    friend class Stream;
    GraphExec() = default;
    CUgraph_st* graph_ = nullptr;
    CUgraphExec_st* handle_ = nullptr;
    std::size_t node_count_ = 0;
};

struct LaunchConfig {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;
};

/// `arguments[i]` points to the value of parameter i, which is copied during the call.
Result<void> launch(const Function& function, const LaunchConfig& config, const Stream& stream,
                    void* const* arguments);

/// Launches and waits. Device time in nanoseconds between events before and after, so that a short kernel's
/// holds its launch.
Result<double> timed_launch_ns(const Function& function, const LaunchConfig& config, const Stream& stream,
                               void* const* arguments);

} // namespace deepjit::gpu
