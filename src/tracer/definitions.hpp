#pragma once

#include "src/tracer/id_table.hpp"
#include "src/tracer/locks.hpp"
#include "src/tracer/thread_state.hpp"

#include <cstdint>
#include <string_view>

namespace deepjit::tracer {

/// Where one kernel ran and with what configuration: wire::KernelConfig and wire::KernelSite together.
/// Without padding, so that its bytes can be hashed.
struct KernelIdentity {
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint32_t registers_per_thread;
    std::uint32_t static_shared_bytes;
    std::uint32_t dynamic_shared_bytes;
    std::uint32_t local_bytes_per_thread;
    std::uint64_t name_hash; ///< set by site_id_of()
    std::uint32_t device_id;
    std::uint32_t context_id;
    std::uint32_t stream_id;
    std::uint32_t graph_id;
    std::uint64_t graph_node_id;
};

/// What the recording stores once under an id. Ids are 0 where there is no memory left to remember one.
class Definitions {
  public:
    std::uint32_t site_id_of(KernelIdentity identity, std::string_view mangled_name) noexcept;
    std::uint32_t layout_id_of(std::string_view parameters) noexcept;
    /// `state` is the calling thread's: what it has seen lately is found without a lock.
    std::uint32_t arguments_id_of(ThreadState& state, std::uint32_t layout_id,
                                  std::string_view bytes) noexcept;
    /// Of any text. `state` as above.
    std::uint32_t name_id_of(ThreadState& state, std::string_view text) noexcept;

    /// In a forked child: nothing is defined in its recording yet. Ids that were given keep their meaning.
    void forget_parent() noexcept;

  private:
    std::uint32_t string_id_of(std::string_view text) noexcept;
    std::uint32_t config_id_of(const KernelIdentity& identity, std::string_view mangled_name) noexcept;

    Mutex mutex_;
    // Bounds in entries; 24 bytes each and at most half full.
    IdTable strings_{1U << 16U};
    IdTable configs_{1U << 16U};
    IdTable sites_{1U << 18U};
    IdTable layouts_{1U << 16U};
    IdTable arguments_{1U << 18U};
};

Definitions& definitions() noexcept;

} // namespace deepjit::tracer
