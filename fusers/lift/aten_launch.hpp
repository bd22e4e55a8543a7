#pragma once

#include "fusers/lift/aten_functor.hpp"
#include "fusers/lift/lift_chain.hpp"

namespace deepjit::lift {

/// A launch of ATen's contiguous elementwise kernels, taken apart.
struct AtenLaunch {
    std::int64_t element_count = 0;
    Functor functor;            ///< inputs are not filled in
    FunctorSignature signature; ///< dtypes of the arithmetic's operands
    FunctorSignature stored;    ///< dtypes in memory: differ where the kernel casts as it loads and stores
    std::uint64_t output = 0;   ///< address
    std::vector<std::uint64_t> inputs;
};

/// Parses `vectorized_elementwise_kernel` and `unrolled_elementwise_kernel` launches, or says what does not
/// fit.
Result<AtenLaunch> parse_aten_launch(const ObservedLaunch& launch);

} // namespace deepjit::lift
