#pragma once

#include "src/base/result.hpp"
#include "src/graph/chain_graph.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// What PyTorch's elementwise functors compute, told by their demangled names and their bytes. The layouts
/// were read off launches of torch 2.11.
namespace deepjit::lift {

/// Collects the ops of one kernel. Values are of the arithmetic's type, float32.
class OpSink {
  public:
    virtual ~OpSink() = default;
    virtual graph::TensorIndex constant(double value) = 0;
    virtual graph::TensorIndex op(std::string type, std::vector<graph::TensorIndex> inputs,
                                  std::map<std::string, double> attributes = {}) = 0;
    /// The value rounded to `dtype` inside the kernel.
    virtual graph::TensorIndex round(graph::TensorIndex value, graph::DType dtype) = 0;
};

/// A functor as the kernel received it.
struct Functor {
    std::string name;  ///< the template argument, without `at::native::` and `(anonymous namespace)::`
    std::string bytes; ///< by value; padding holds anything
    std::vector<graph::TensorIndex> inputs;
    std::vector<std::string> notes; ///< what was read from the bytes, for the op's evidence

    /// A float at `byte_offset`; refused where it lies outside or is not finite.
    Result<double> float32_at(std::size_t byte_offset, std::string_view meaning);
};

/// Dtypes of the operands that a functor declares.
struct FunctorSignature {
    graph::DType output = graph::DType::Float32;
    std::vector<graph::DType> inputs;
};

/// The signature by the functor's name, or why it has none that can be lifted.
Result<FunctorSignature> signature_of(const Functor& functor);

/// Emits the functor's ops and returns the value it yields, before it is stored. `functor.inputs` must match
/// the signature.
Result<graph::TensorIndex> lift_functor(Functor& functor, const FunctorSignature& signature, OpSink& sink);

} // namespace deepjit::lift
