#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace deepjit::cli {

/// The stub of libcuda.so.1 that the loader finds first in `library_path` ("a:b", as LD_LIBRARY_PATH), if
/// any. The CUDA Toolkit has one in a folder named "stubs", to link against; a program that loads it has no
/// GPU.
std::optional<std::filesystem::path> stub_driver_in(std::string_view library_path);

} // namespace deepjit::cli
