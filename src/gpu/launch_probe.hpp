#pragma once

#include "src/gpu/context.hpp"
#include "src/gpu/stream.hpp"

#include <array>
#include <cstdint>

namespace deepjit::gpu {

/// A kernel that does nothing but is launched like one of a real chain: three buffers, an extent and a scalar
/// as arguments, one block on each multiprocessor. Its code is PTX that the driver compiles, so no NVRTC is
/// needed.
class LaunchProbe {
  public:
    /// Allocates, loads and launches once, so that nothing is lazy afterwards.
    static Result<LaunchProbe> create(int device_index);

    /// Host nanoseconds for `launches` launches and the synchronisation after them.
    Result<double> burst_ns(int launches);
    /// The launches as a graph, each after the one before.
    Result<GraphExec> capture(int launches);
    Stream& stream() { return stream_; }
    const DeviceFacts& device() const { return context_.device(); }

  private:
    LaunchProbe(Context context, Module module, Function function, Stream stream);
    Result<void> launch_all(int launches);

    // Destroyed in reverse: the context last.
    Context context_;
    Module module_;
    Function function_;
    Stream stream_;
    std::array<DeviceBuffer, 3> buffers_;
};

} // namespace deepjit::gpu
