#include "src/tracer/copy_addresses.hpp"

#include "src/tracer/recording.hpp"

#include <algorithm>
#include <cstring>

namespace deepjit::tracer {
namespace {

/// A batch of more copies is cut: each piece takes 32 bytes in the recording.
constexpr std::size_t kMaxPieces = 65'536;

struct Place {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    std::uint64_t byte_offset;
};

std::uint64_t address_of(const Place& place) noexcept {
    switch (place.type) {
    case CU_MEMORYTYPE_HOST:
        return reinterpret_cast<std::uint64_t>(place.host) + place.byte_offset;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        return place.device + place.byte_offset;
    default:
        return 0;
    }
}

CopyAddresses copy_addresses_2d(const CUDA_MEMCPY2D& copy) noexcept {
    return {address_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice,
                        copy.srcY * copy.srcPitch + copy.srcXInBytes}),
            address_of({copy.dstMemoryType, copy.dstHost, copy.dstDevice,
                        copy.dstY * copy.dstPitch + copy.dstXInBytes})};
}

/// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name these fields alike.
template <class Copy>
CopyAddresses copy_addresses_3d(const Copy& copy) noexcept {
    return {address_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice,
                        (copy.srcZ * copy.srcHeight + copy.srcY) * copy.srcPitch + copy.srcXInBytes}),
            address_of({copy.dstMemoryType, copy.dstHost, copy.dstDevice,
                        (copy.dstZ * copy.dstHeight + copy.dstY) * copy.dstPitch + copy.dstXInBytes})};
}

/// The struct that the call's only or first parameter points to.
template <class Copy>
const Copy* first_parameter(const void* raw) noexcept {
    return *static_cast<const Copy* const*>(raw);
}

/// The four parameters that every form of cuMemcpyBatchAsync begins with.
struct BatchParameters {
    const CUdeviceptr* destinations;
    const CUdeviceptr* sources;
    const std::size_t* sizes;
    std::size_t count;
};

void record_batch(const CUpti_CallbackData& data) noexcept {
    const auto& batch = *static_cast<const BatchParameters*>(data.functionParams);
    if (batch.destinations == nullptr || batch.sources == nullptr || batch.sizes == nullptr) return;
    for (std::size_t i = 0; i < std::min(batch.count, kMaxPieces); ++i) {
        wire::BatchCopyAddresses record;
        record.correlation_id = data.correlationId;
        record.source = batch.sources[i];
        record.destination = batch.destinations[i];
        record.bytes = batch.sizes[i];
        recording().append(record);
    }
}

} // namespace

CopyAddresses copy_addresses(const CUDA_MEMCPY3D& copy) noexcept {
    return copy_addresses_3d(copy);
}

CopyAddresses copy_addresses(CallForm form, const void* raw) noexcept {
    CUdeviceptr fields[3] = {};
    switch (form) {
    case CallForm::Fill:
        std::memcpy(fields, raw, sizeof fields[0]);
        return {0, fields[0]};
    case CallForm::Copy:
        std::memcpy(fields, raw, 2 * sizeof fields[0]);
        return {fields[1], fields[0]};
    case CallForm::CopyFromPeer:
        std::memcpy(fields, raw, sizeof fields);
        return {fields[2], fields[0]};
    case CallForm::Copy2D:
        if (const auto* copy = first_parameter<CUDA_MEMCPY2D>(raw)) return copy_addresses_2d(*copy);
        return {};
    case CallForm::Copy3D:
        if (const auto* copy = first_parameter<CUDA_MEMCPY3D>(raw)) return copy_addresses_3d(*copy);
        return {};
    case CallForm::Copy3DPeer:
        if (const auto* copy = first_parameter<CUDA_MEMCPY3D_PEER>(raw)) return copy_addresses_3d(*copy);
        return {};
    default:
        return {};
    }
}

void record_copy_addresses(CallForm form, const CUpti_CallbackData& data) noexcept {
    if (form == CallForm::CopyBatch) return record_batch(data);
    const CopyAddresses addresses = copy_addresses(form, data.functionParams);
    wire::CopyAddresses record;
    record.correlation_id = data.correlationId;
    record.source = addresses.source;
    record.destination = addresses.destination;
    recording().append(record);
}

} // namespace deepjit::tracer
