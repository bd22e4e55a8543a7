#include "src/ingest/sequence_alignment.hpp"

#include <algorithm>
#include <optional>

namespace deepjit::ingest {
namespace {

using Sequence = std::span<const std::uint32_t>;

/// Whether the two agree from their starts on, up to an end of either.
bool agree(Sequence a, Sequence b) {
    const std::size_t count = std::min({a.size(), b.size(), kMinAgreement});
    return count > 0 && std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin());
}

/// How many elements of each to leave out so that they agree; absent where they do not nearby.
std::optional<std::pair<std::size_t, std::size_t>> shortest_skip(Sequence a, Sequence b) {
    for (std::size_t sum = 1; sum <= kMaxSkip; ++sum)
        for (std::size_t of_a = 0; of_a <= sum; ++of_a) {
            const std::size_t of_b = sum - of_a;
            if (of_a < a.size() && of_b < b.size() && agree(a.subspan(of_a), b.subspan(of_b)))
                return std::pair(of_a, of_b);
        }
    return std::nullopt;
}

} // namespace

std::vector<std::pair<std::size_t, std::size_t>> align_sequences(Sequence a, Sequence b) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::size_t in_a = 0;
    std::size_t in_b = 0;
    while (in_a < a.size() && in_b < b.size()) {
        if (a[in_a] == b[in_b]) {
            pairs.emplace_back(in_a++, in_b++);
            continue;
        }
        const auto skip = shortest_skip(a.subspan(in_a), b.subspan(in_b));
        if (!skip) break;
        in_a += skip->first;
        in_b += skip->second;
    }
    return pairs;
}

} // namespace deepjit::ingest
