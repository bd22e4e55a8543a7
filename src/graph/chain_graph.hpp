#pragma once

#include "src/base/result.hpp"
#include "src/graph/dtype.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The chain IR: what a run of kernels computes, apart from how.
namespace deepjit::graph {

enum class TensorRole {
    Input,        ///< read from memory; the caller passes it
    Output,       ///< stored to memory: the result, or an intermediate that something outside reads
    Intermediate, ///< lives between two ops only
    Constant,     ///< known values: a scalar inside a functor, an initialiser
};

struct Tensor {
    std::string name;
    DType dtype = DType::Float32;
    std::vector<std::int64_t> shape;   ///< empty: a scalar
    std::vector<std::int64_t> strides; ///< in elements; empty: contiguous, last axis fastest
    TensorRole role = TensorRole::Intermediate;
    std::int64_t alignment_bytes = 0; ///< the least alignment seen of its address; 0: not seen
    std::vector<double> values;       ///< Constant only: one for all elements, or one for each

    std::int64_t element_count() const;
};

using TensorIndex = std::int32_t;

/// One reason to believe what an op is: a kernel name, its arguments, an ONNX node.
struct Evidence {
    std::string witness;
    std::string detail;
};

/// One argument of a kernel that could not be lifted: what a person needs to replace it by ops.
struct OpenArgument {
    int parameter = 0;      ///< of the kernel, from 0; a by-value struct can hold several arguments
    std::string type;       ///< as the kernel's signature spells it; empty: not told
    std::string buffer;     ///< a pointer: "buffer_7f6892800000", one name for one address; else empty
    std::string access;     ///< a pointer: "read", "write", "read and write" or "unknown"
    std::string dtype;      ///< a pointer: of its elements; empty: not told
    std::int64_t bytes = 0; ///< a pointer: what the kernel can touch at most, from the address on; 0: unknown
    std::string value;      ///< no pointer: the number, or its bytes as they lie in memory ("0x0000803f")
};

/// An op carries an ONNX operator name and ONNX semantics, evaluated on real numbers; where precision ends is
/// said only by `RoundTo`. Two types are deepjit's own:
///  - `RoundTo`: its input becomes a value of its output's dtype. One stands wherever an original kernel
///  stored
///    to memory. For equal dtypes it is what forbids contracting a multiply before it with an add after it.
///  - `Open`: a kernel that could not be lifted. `reason` says why and `arguments` what it was passed; a
///  person
///    can replace it by ops. Its inputs and outputs are the tensors that it may read and write, as far as
///    dtype and size are known.
/// The output of every other op is a value of the arithmetic that the original used (`Float32` for float16
/// and bfloat16 kernels), or bool for comparisons and logic.
struct Op {
    std::string type;
    std::vector<TensorIndex> inputs;
    std::vector<TensorIndex> outputs;
    std::map<std::string, double> attributes; ///< float32 values, as in ONNX
    std::string source;                       ///< the kernel (or node) that this op stands for; any bytes
    std::string reason;                       ///< Open only
    std::vector<OpenArgument> arguments;      ///< Open only
    std::vector<Evidence> evidence;

    bool is_open() const { return type == "Open"; }
};

enum class Rounding {
    Match, ///< every RoundTo is kept: the fused kernel can be bit-identical to the originals
    Wide,  ///< RoundTos that cannot change a comparison are dropped
};

/// Ops are in execution order; every input of an op is an Input, a Constant, or an earlier op's output.
struct ChainGraph {
    std::string name; ///< plain identifier
    Rounding rounding = Rounding::Match;
    std::vector<Tensor> tensors;
    std::vector<Op> ops;
    std::vector<TensorIndex> inputs;  ///< in the order in which a caller passes them
    std::vector<TensorIndex> outputs; ///< in the order in which a caller receives them
    std::int64_t frames_observed = 0; ///< frames in which the escapes were checked; 0: not from a trace
    std::string provenance;           ///< where it came from, for people

    const Tensor& tensor(TensorIndex index) const { return tensors[static_cast<std::size_t>(index)]; }
    Tensor& tensor(TensorIndex index) { return tensors[static_cast<std::size_t>(index)]; }
};

/// Broken references, wrong arity, unknown op types, shapes that do not broadcast, cycles, bad names: the
/// first is reported with the op or tensor it concerns.
Result<void> validate(const ChainGraph& chain);

/// chain.json: readable and editable by hand, stable to the byte for equal chains.
std::string to_json(const ChainGraph& chain);
/// Reads and validates chain.json. Errors give the place.
Result<ChainGraph> from_json(std::string_view text);

/// Hash of what the chain computes and how it is called: everything but provenance, evidence, sources
/// and the arguments of Open ops.
std::string hash_of(const ChainGraph& chain);

} // namespace deepjit::graph
