#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

struct RecordedLaunch {
    std::string function;
    unsigned int grid_blocks;
    unsigned int block_threads;
    CUstream stream;
    std::vector<void*> arguments;
};

/// What the stand-in driver was asked to do, and what it pretends to be.
struct RecordingDriver {
    int capability = 90;
    unsigned long long context_generation = 0; ///< another one: contexts at known addresses are new ones
    int module_loads = 0;
    int module_unloads = 0;
    int failing_attribute = 0; ///< cuDeviceGetAttribute refuses this one
    std::string missing_entry; ///< modules lack this kernel
    int primary_retains = 0;
    bool loaded_ptx = false;
    /// Copies in the default stream that no call has waited for: a kernel in another stream does not either.
    int copies_not_waited_for = 0;
    std::vector<RecordedLaunch> launches;
};

RecordingDriver& recording_driver();
