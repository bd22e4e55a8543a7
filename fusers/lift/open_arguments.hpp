#pragma once

#include "fusers/lift/lift_chain.hpp"

#include <optional>
#include <vector>

/// What is known of the arguments of a launch that no lifter understands.
namespace deepjit::lift {

/// An argument, and the pointer in it if it is one.
struct KnownArgument {
    graph::OpenArgument shown;
    const model::BufferUse* use = nullptr; ///< of the launch; null: no pointer
    std::optional<graph::DType> dtype;     ///< of the pointer's elements

    bool may_read() const { return use != nullptr && use->access != model::Access::Write; }
    bool may_write() const { return use != nullptr && use->access != model::Access::Read; }
};

/// In the order of the parameters. Types come from the demangled signature, values and addresses from the
/// recorded bytes, extents and accesses from `launch.buffers`. Refers to `launch`.
std::vector<KnownArgument> known_arguments(const ObservedLaunch& launch);

} // namespace deepjit::lift
