#pragma once

#include "src/graph/dtype.hpp"
#include "src/graph/interpreter.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace deepjit::testing {

/// Elements of one tensor as they lie in memory, with guard bytes on both sides.
class StoredValues {
  public:
    /// `shift_elements` moves the first element from a 16-byte border by that many elements.
    StoredValues(graph::DType dtype, std::size_t count, std::size_t shift_elements);

    void* data() { return bytes_.data() + first_byte_; }
    void write(const graph::Values& values);
    graph::Values read() const;
    /// Whether every byte outside of the elements is as it was.
    bool guards_are_whole() const;

  private:
    graph::DType dtype_;
    std::size_t count_;
    std::vector<unsigned char> bytes_;
    std::size_t first_byte_ = 0;
};

/// Values of `dtype`: mostly normal numbers of various sizes, one in eight of them adversarial: ±0,
/// denormals, infinities, NaN, the largest numbers, ties.
graph::Values random_values(graph::DType dtype, std::size_t count, std::mt19937_64& random);

} // namespace deepjit::testing
