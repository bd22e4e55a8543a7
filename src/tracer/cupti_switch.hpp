#pragma once

#include "src/tracer/cupti_library.hpp"
#include "src/tracer/watched_calls.hpp"

namespace deepjit::tracer {

/// How much of the program CUPTI tells about.
enum class Watching : std::uint8_t {
    Setup,      ///< what is loaded, allocated and put into graphs: later launches refer to it
    Frames,     ///< that, and the launches and waits by which frames are counted
    Everything, ///< all watched calls, and records of kernels, copies and fills
};

/// Whether a driver call is watched at that level.
bool is_watched(const WatchedCall& call, Watching level) noexcept;

/// Whether the host waits for the device in the call: a frame ends with it.
bool waits_for_device(const WatchedCall& call) noexcept;

/// Turns CUPTI's callbacks and records off and on again. CUPTI wants the calls that do so one at a time: the
/// caller holds a lock.
class CuptiSwitch {
  public:
    /// `subscriber` has everything enabled.
    void take(const CuptiLibrary* cupti, CUpti_SubscriberHandle subscriber, bool graph_level) noexcept;

    void set(Watching level) noexcept;
    Watching level() const noexcept { return level_; }

  private:
    void set_records(bool enabled) noexcept;

    const CuptiLibrary* cupti_ = nullptr;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    bool graph_level_ = false;
    Watching level_ = Watching::Everything;
};

} // namespace deepjit::tracer
