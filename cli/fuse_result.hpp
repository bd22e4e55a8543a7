#pragma once

#include "fusers/emit/emission.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace deepjit::cli {

/// What `deepjit fuse` did, for its two output forms.
struct FuseResult {
    emit::Emission emission;
    std::filesystem::path folder;
    int original_kernels = 0;
    std::string configuration; ///< of the chosen variant
    int variants_tried = 0;
    int variants_rejected = 0; ///< did not compile, spilled, or failed the gate
};

/// In `columns` where its table of times fits; times only beside a verdict.
std::string fuse_text(const FuseResult& result, std::size_t columns = 80);
/// With `schema_version`.
std::string fuse_json(const FuseResult& result);

} // namespace deepjit::cli
