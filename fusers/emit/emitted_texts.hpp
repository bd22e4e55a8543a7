#pragma once

#include "fusers/emit/emission.hpp"
#include "fusers/emit/operands.hpp"

#include <string>
#include <string_view>
#include <vector>

/// One function for each text of an emitted folder.
namespace deepjit::emit {

std::string launcher_header_text(const Emission& emission, const std::vector<Operand>& operands);
std::string launcher_source_text(const Emission& emission, const std::vector<Operand>& operands);
/// The compiled forms as byte arrays: cubins by rising capability, then PTX.
std::string launcher_images_text(const Emission& emission);
/// A program that runs the kernel and compares with the interpreter's results.
Result<std::string> example_text(const Emission& emission, const std::vector<Operand>& operands);
std::string torch_module_text(const Emission& emission, const std::vector<Operand>& operands);
std::string readme_text(const Emission& emission, const std::vector<Operand>& operands);

/// "const char* error = NAME::launch(a, b, NAME::kElementCount, stream);", on as many lines as it needs.
std::string launch_call(const Emission& emission, const std::vector<std::string>& pointers,
                        std::string_view indent = {});

/// The cast from a CUdeviceptr to the launcher's parameter: "reinterpret_cast<const float*>".
std::string launch_cast(const Operand& operand);

/// "NAME.sm_90.cubin", "NAME.compute_90.ptx"
std::string cubin_file_name(const Emission& emission, const DeviceImage& image);
std::string ptx_file_name(const Emission& emission);

} // namespace deepjit::emit
