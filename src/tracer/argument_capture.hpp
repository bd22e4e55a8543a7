#pragma once

#include "src/tracer/driver_library.hpp"
#include "src/tracer/id_table.hpp"
#include "src/tracer/locks.hpp"
#include "src/tracer/thread_state.hpp"

#include <cstdint>

namespace deepjit::tracer {

/// The parameters of a kernel as the driver reports them. Immutable and never freed: equal ones are shared.
struct ParameterLayout {
    std::uint32_t layout_id = 0; ///< 0: the driver does not tell
    std::uint32_t total_bytes = 0;
    std::uint32_t count = 0;
    wire::Parameter* parameters = nullptr;
};

/// Copies the arguments of launches.
class ArgumentCapture {
  public:
    explicit constexpr ArgumentCapture(const DriverLibrary& driver) noexcept : driver_(driver) {}

    /// Saves the arguments of a launch of `function`, which a launch through the runtime passes as a library
    /// kernel (CUkernel), and returns their id, or 0 where they cannot be read. `kernel_parameters` and
    /// `extra` are those of cuLaunchKernel and need to be valid only during the call.
    std::uint32_t save(ThreadState& state, CUfunction function, void* const* kernel_parameters,
                       void* const* extra) noexcept;

    /// A module goes away: its function handles may come back with another meaning.
    void forget_functions() noexcept { generation_.fetch_add(1, std::memory_order_acq_rel); }

  private:
    const ParameterLayout* layout_of(ThreadState& state, CUfunction function) noexcept;
    const ParameterLayout* query_layout(ThreadState& state, CUfunction function) noexcept;
    const ParameterLayout* share_layout(const wire::Parameter* parameters, std::uint32_t count) noexcept;

    const DriverLibrary& driver_;
    std::atomic<std::uint64_t> generation_{1};
    Mutex mutex_;                         ///< guards what follows
    ParameterLayout** layouts_ = nullptr; ///< by layout id
    std::uint32_t layouts_capacity_ = 0;
};

} // namespace deepjit::tracer
