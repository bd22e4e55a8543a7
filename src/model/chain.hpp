#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deepjit::model {

/// What a kernel does with a buffer that one of its arguments points to.
enum class Access { Unknown, Read, Write, ReadWrite };

/// A pointer found in a kernel's arguments, resolved to the buffer it points into.
struct BufferUse {
    std::uint64_t address = 0;
    std::uint64_t footprint_bytes = 0; ///< what the kernel can touch from `address` on; 0 unknown
    std::int64_t allocation_id = 0;    ///< 0: in no recorded allocation
    std::uint32_t argument_offset = 0; ///< place of the pointer in the bytes of the arguments
    Access access = Access::Unknown;
    std::string access_witness; ///< what says so: "const in the signature", "ATen argument order"
};

/// How a step is known to need an earlier step of its chain.
enum class Dependence {
    None,    ///< it needs no earlier step: the first, or a branch that a later step joins
    Proved,  ///< it is passed a buffer that an earlier step was passed as writable
    Assumed, ///< same stream and adjacent, but the trace holds no arguments to prove it by
};

struct ChainStep {
    std::int64_t kernel_id = 0; ///< in the representative frame
    std::string name;           ///< demangled, bytes as the program gave them
    Dependence dependence = Dependence::None;
    std::vector<BufferUse> buffers;
    double busy_ns = 0; ///< median over frames
};

/// A buffer that the chain writes: stays inside, or is seen from outside.
struct WrittenBuffer {
    std::uint64_t address = 0;
    std::uint64_t footprint_bytes = 0;
    int first_writer = 0; ///< step
    bool escapes = true;
    std::string
        reason; ///< who could read it: "kernel foo in frame 7", "copied to the host", "last step's output"
};

/// A maximal run of short kernels on one stream, in one frame, repeated every frame.
struct Chain {
    int number = 0; ///< what `--chain N` names; from 1, in the order of the tracks and of the frame
    std::uint32_t device_id = 0;
    std::uint32_t stream_id = 0;
    bool in_graph = false;
    std::vector<ChainStep> steps;
    std::vector<WrittenBuffer> written;
    /// kernel_id of every step, for each frame in which the chain ran.
    std::vector<std::vector<std::int64_t>> occurrences;
};

} // namespace deepjit::model
