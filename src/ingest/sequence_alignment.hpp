#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace deepjit::ingest {

/// Pairs of places that hold the same element in both sequences, in their order, each place at most once.
/// Where the sequences part, the shortest way to where at least `kMinAgreement` elements agree again is
/// taken, at most `kMaxSkip` elements ahead; where there is none, nothing after that is paired.
std::vector<std::pair<std::size_t, std::size_t>> align_sequences(std::span<const std::uint32_t> a,
                                                                 std::span<const std::uint32_t> b);

/// Fewer could be chance: the kernels of a frame repeat.
inline constexpr std::size_t kMinAgreement = 4;
inline constexpr std::size_t kMaxSkip = 512;

} // namespace deepjit::ingest
