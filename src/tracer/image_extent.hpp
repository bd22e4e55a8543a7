#pragma once

#include "src/wire/records.hpp"

#include <cstddef>

namespace deepjit::tracer {

/// Where a module image lies in the target's memory.
struct ImageExtent {
    const std::byte* data = nullptr; ///< null: this is no image, or one whose size cannot be told
    std::size_t bytes = 0;
    wire::ImageKind kind{};
};

/// Finds the extent of the image that a driver call took, from the container's own tables: an ELF file's
/// sections and segments, a fat binary's header (also behind the wrapper that nvcc emits), the end of PTX
/// text. Reads nothing beyond them. `image` is that of a call that succeeded, so that the driver has read it.
ImageExtent image_extent(const void* image) noexcept;

/// What the bytes at the start of an image say it is; false where they say nothing. PTX is told by its
/// ".version" directive, which comes first.
bool image_kind_of(const std::byte* start, std::size_t bytes, wire::ImageKind& kind) noexcept;

} // namespace deepjit::tracer
