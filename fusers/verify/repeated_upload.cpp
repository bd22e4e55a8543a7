#include "fusers/verify/repeated_upload.hpp"

#include "fusers/verify/element_codec.hpp"

#include <algorithm>

namespace deepjit::verify {

namespace {

constexpr std::size_t kPieceBytes = 8 << 20; // about

} // namespace

Result<void> upload_repeated(gpu::DeviceBuffer& buffer, std::size_t offset, const graph::Tensor& tensor,
                             const graph::Values& values) {
    const std::size_t element_bytes = graph::size_bytes(tensor.dtype);
    const auto count = static_cast<std::size_t>(tensor.element_count());
    const std::size_t periods = std::max<std::size_t>(1, kPieceBytes / (values.size() * element_bytes));
    const std::size_t piece_elements = std::min(count, periods * values.size());
    const std::vector<std::byte> piece = encode(values, tensor.dtype, piece_elements);
    for (std::size_t done = 0; done < count; done += piece_elements) {
        const std::size_t bytes = std::min(piece_elements, count - done) * element_bytes;
        DEEPJIT_CHECK(buffer.upload(std::span(piece).first(bytes), offset + done * element_bytes));
    }
    return {};
}

} // namespace deepjit::verify
