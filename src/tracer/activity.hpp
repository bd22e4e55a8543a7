#pragma once

#include <cstddef>
#include <cstdint>

#include <cupti.h>

namespace deepjit::tracer {

/// CUPTI's buffer callbacks: it fills buffers with activity records and hands them back, on its own thread or
/// on one that flushes; the records go into the recording.
void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) noexcept;
void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream_id, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid_size) noexcept;

} // namespace deepjit::tracer
