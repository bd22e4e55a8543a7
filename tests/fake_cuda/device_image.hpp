#pragma once

#include <string>
#include <vector>

namespace fake_cuda {

// Containers of device code that hold the given kernels by name and no code: enough for what reads names and
// sizes. The layouts are those of src/base/image_format.hpp.

/// PTX text; names that PTX could not hold are left out.
std::string ptx_with(const std::vector<std::string>& kernels);
/// A 64-bit ELF file for CUDA with one symbol for each kernel.
std::string cubin_with(const std::vector<std::string>& kernels);
/// A fat binary with the cubin and the PTX, not compressed.
std::string fat_binary_with(const std::vector<std::string>& kernels);

} // namespace fake_cuda
