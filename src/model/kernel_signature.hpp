#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deepjit::model {

/// A demangled kernel name taken apart. Views into the name that was parsed.
struct KernelSignature {
    std::string_view qualified_name; ///< "at::native::vectorized_elementwise_kernel", no template arguments
    std::string_view base_name;      ///< "vectorized_elementwise_kernel"
    std::vector<std::string_view> template_arguments;
    std::vector<std::string_view> parameters; ///< types
    bool has_parameters = false;              ///< false for C names ("my_kernel"), whose types nothing tells
};

/// Reads names as the Itanium demangler writes them; names it cannot read give a base_name only.
KernelSignature parse_kernel_signature(std::string_view demangled);

/// Splits "a<b, c>, d(e, f)" at its outer commas.
std::vector<std::string_view> split_at_commas(std::string_view list);

bool is_pointer_type(std::string_view type);
/// What the pointer points at is const: "float const*", "const float*".
bool is_pointer_to_const(std::string_view type);
/// "float" for "float const*".
std::string_view pointee_type(std::string_view pointer_type);
/// Bytes of a scalar C++ or ATen type by name ("float", "c10::Half", "unsigned char"), absent if unknown.
std::optional<std::uint32_t> size_of_type(std::string_view type);

/// How an ATen elementwise kernel passes its tensors.
enum class AtenLayout {
    None,       ///< no such kernel
    Vectorized, ///< (int n, functor, array<char*, m>): contiguous, no casts, output first
    Unrolled,   ///< (int n, functor, array<char*, m>, ...): output first, perhaps strided or cast
    Closure,    ///< (int n, lambda): offset calculator, pointers (output first) and functor in one struct
};

struct AtenElementwise {
    AtenLayout layout = AtenLayout::None;
    std::string_view functor;        ///< type of the functor: "at::native::CUDAFunctor_add<float>"
    std::uint32_t pointer_count = 0; ///< m; 0 where the name does not tell (Closure)
    /// Types by tensor, output first, as far as the functor tells; empty view: unknown. Empty for Closure and
    /// for casting loads, where memory holds other types than the functor sees.
    std::vector<std::string_view> element_types;
};

/// What the signature of an ATen elementwise kernel (PyTorch 2.x) tells; layout None for any other kernel.
AtenElementwise parse_aten_elementwise(const KernelSignature& signature);

/// GEMM, convolution, attention, collective: a kernel whose inside is a library's, so that it ends a chain.
bool is_library_kernel(std::string_view demangled);

} // namespace deepjit::model
