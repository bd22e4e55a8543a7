#pragma once

#include "src/base/result.hpp"

#include <cstdint>
#include <string>

namespace deepjit::gpu {

/// The CUPTI library that this machine would use.
struct CuptiFacts {
    std::string library_path;
    std::uint32_t api_version =
        0;               ///< 130001 is CUDA 13.0 Update 1; up to 28 (CUDA 12.9 Update 1) a running number
    std::string toolkit; ///< the toolkit of that version: "13.0 Update 1"
    std::string known_problem; ///< what is wrong with that version, empty where nothing is known
};

/// Opens CUPTI ($DEEPJIT_CUPTI_LIBRARY, the loader's path, toolkits, wheels) and asks its version. No GPU
/// needed.
Result<CuptiFacts> cupti_facts();

/// "13.0 Update 1" for 130001, "12.4" for 22.
std::string toolkit_of_cupti(std::uint32_t api_version);

/// Faults of CUPTI releases that lose or damage records, or nothing.
std::string known_cupti_problem(std::uint32_t api_version);

} // namespace deepjit::gpu
