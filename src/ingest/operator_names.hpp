#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deepjit::ingest {

/// What the name of an NVTX range says of the operator of a framework that it stands for.
struct OperatorFacts {
    std::string framework;                        ///< "PyTorch" or "TensorRT"
    std::string operator_name;                    ///< "aten::add"; of TensorRT the layer's name, verbatim
    std::optional<std::int64_t> sequence;         ///< autograd's sequence number
    std::optional<std::int64_t> op_id;            ///< of this call of the operator
    std::optional<std::string> shapes_json;       ///< of the inputs, [] for what is no tensor: [[2,3],[]]
    std::optional<std::string> input_op_ids_json; ///< which call made each input: [[op_id,output],...]
};

/// The operator behind a range of the default domain (`domain` absent) or of a named one; nothing where the
/// name is no operator's. Names are anything a program likes: what does not match in full is no operator.
///
/// PyTorch's emit_nvtx pushes `NAME[, seq = N][, op_id = N][, sizes = [[N, ...], ...]]
/// [, input_op_ids = [(N,N), ...]]` in the default domain (getNvtxStr in torch/csrc/profiler/util.cpp, 1.13
/// to 2.11; before 1.13 without the ids). A name without any of these counts only with the prefix `aten::`.
/// TensorRT opens a range for each layer in its domain, between those of its own calls
/// (`ExecutionContext::enqueue`); a fused layer's name lists what it was made of (`Conv_0 + Relu_1`,
/// `{ForeignNode[first...last]}`, `PWN(...)`) and is the one that its engine inspector and profiles print.
std::optional<OperatorFacts> operator_of_range(std::optional<std::string_view> domain, std::string_view name);

} // namespace deepjit::ingest
