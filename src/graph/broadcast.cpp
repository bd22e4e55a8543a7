#include "src/graph/broadcast.hpp"

#include <algorithm>

namespace deepjit::graph {

std::optional<std::vector<std::int64_t>> broadcast_shape(const std::vector<std::int64_t>& a,
                                                         const std::vector<std::int64_t>& b) {
    const std::size_t rank = std::max(a.size(), b.size());
    std::vector<std::int64_t> joined(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t extent_a = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
        const std::int64_t extent_b = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
        if (extent_a != extent_b && extent_a != 1 && extent_b != 1) return std::nullopt;
        joined[i] = extent_a == 1 ? extent_b : extent_a;
    }
    return joined;
}

std::vector<std::int64_t> broadcast_indices(const std::vector<std::int64_t>& from,
                                            const std::vector<std::int64_t>& to) {
    std::vector<std::int64_t> strides(to.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = from.size(); i-- > 0;) {
        strides[i + to.size() - from.size()] = from[i] == 1 ? 0 : stride;
        stride *= from[i];
    }
    std::int64_t count = 1;
    for (const std::int64_t extent : to)
        count *= extent;
    std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
    std::vector<std::int64_t> position(to.size(), 0);
    std::int64_t source = 0;
    for (auto& index : indices) {
        index = source;
        for (std::size_t axis = to.size(); axis-- > 0;) {
            source += strides[axis];
            if (++position[axis] < to[axis]) break;
            source -= strides[axis] * to[axis];
            position[axis] = 0;
        }
    }
    return indices;
}

} // namespace deepjit::graph
