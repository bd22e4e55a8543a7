#include "fusers/lift/aten_launch.hpp"
#include "fusers/lift/lift_chain.hpp"
#include "fusers/lift/open_arguments.hpp"
#include "src/base/text.hpp"
#include "src/graph/op_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>

namespace deepjit::lift {
namespace {

using graph::DType;
using graph::Op;
using graph::Tensor;
using graph::TensorIndex;
using graph::TensorRole;

/// Builds the chain launch by launch; knows which tensor lies at which address at this point of the chain.
class ChainLifter : public OpSink {
  public:
    ChainLifter(const std::string& name, std::int64_t frames_observed) {
        lifted_.chain.name = name;
        lifted_.chain.frames_observed = frames_observed;
    }

    void add(const ObservedLaunch& launch) {
        // A launch that fails half-way leaves no trace.
        const LiftedChain before = lifted_;
        const auto tensors_before = tensor_at_;
        const auto addresses_before = address_of_;
        const auto assumed_before = of_assumed_size_;
        const auto outcome = lift(launch);
        if (outcome) return;
        lifted_ = before;
        tensor_at_ = tensors_before;
        address_of_ = addresses_before;
        of_assumed_size_ = assumed_before;
        add_open_op(launch, outcome.error().message);
    }

    Result<LiftedChain> finish(const std::vector<ObservedWrite>& writes) {
        choose_outputs(writes);
        name_tensors();
        DEEPJIT_CHECK(graph::validate(lifted_.chain));
        return std::move(lifted_);
    }

    TensorIndex constant(double value) override {
        Tensor tensor;
        tensor.role = TensorRole::Constant;
        tensor.values = {value};
        const TensorIndex index = add_tensor(std::move(tensor));
        lifted_.scalars_from_arguments.push_back(index);
        return index;
    }

    TensorIndex op(std::string type, std::vector<TensorIndex> inputs,
                   std::map<std::string, double> attributes) override {
        Tensor result;
        // An op on two scalars of the functor yields a scalar.
        const bool has_tensor = std::any_of(inputs.begin(), inputs.end(), [&](TensorIndex index) {
            return lifted_.chain.tensor(index).role != TensorRole::Constant;
        });
        if (has_tensor) result.shape = shape_;
        return add_op(std::move(type), std::move(inputs), std::move(attributes), std::move(result));
    }

    TensorIndex round(TensorIndex value, DType dtype) override {
        Tensor result;
        result.shape = shape_;
        result.dtype = dtype;
        return add_op(std::string(graph::kRoundTo), {value}, {}, std::move(result));
    }

  private:
    TensorIndex add_tensor(Tensor tensor) {
        auto& tensors = lifted_.chain.tensors;
        // Names are given in the end; until then they only have to differ.
        tensor.name = fmt::format("tensor_{}", tensors.size());
        tensors.push_back(std::move(tensor));
        return static_cast<TensorIndex>(tensors.size() - 1);
    }

    TensorIndex add_op(std::string type, std::vector<TensorIndex> inputs,
                       std::map<std::string, double> attributes, Tensor result) {
        Op op;
        op.type = std::move(type);
        op.inputs = std::move(inputs);
        op.attributes = std::move(attributes);
        op.source = source_;
        const TensorIndex index = add_tensor(std::move(result));
        op.outputs = {index};
        lifted_.chain.ops.push_back(std::move(op));
        return index;
    }

    Result<void> lift(const ObservedLaunch& launch) {
        DEEPJIT_TRY(AtenLaunch parsed, parse_aten_launch(launch));
        shape_ = {parsed.element_count};
        source_ = launch.kernel_name;
        for (std::size_t i = 0; i < parsed.inputs.size(); ++i) {
            DEEPJIT_TRY(const TensorIndex tensor, read(parsed.inputs[i], parsed.stored.inputs[i]));
            parsed.functor.inputs.push_back(tensor);
        }
        DEEPJIT_CHECK(check_overlap(parsed.output, parsed.stored.output));
        const std::size_t first_op = lifted_.chain.ops.size();
        // Loading a wider or narrower type than the arithmetic's rounds to the latter.
        for (std::size_t i = 0; i < parsed.inputs.size(); ++i)
            if (graph::epsilon_of(parsed.signature.inputs[i]) > graph::epsilon_of(parsed.stored.inputs[i]) ||
                (parsed.stored.inputs[i] == DType::BFloat16 && parsed.signature.inputs[i] == DType::Float16))
                parsed.functor.inputs[i] = round(parsed.functor.inputs[i], parsed.signature.inputs[i]);
        DEEPJIT_TRY(TensorIndex result, lift_functor(parsed.functor, parsed.signature, *this));
        if (parsed.signature.output != parsed.stored.output && parsed.signature.output != DType::Float32)
            result = round(result, parsed.signature.output);
        result = round(result, parsed.stored.output);
        lifted_.chain.tensor(result).alignment_bytes = alignment_of(parsed.output);
        tensor_at_[parsed.output] = result;
        address_of_[result] = parsed.output;
        Op& witnessed = lifted_.chain.ops[first_op];
        witnessed.evidence.push_back({"kernel name", parsed.functor.name});
        witnessed.evidence.push_back({"launch arguments", argument_note(parsed)});
        return {};
    }

    static std::string argument_note(const AtenLaunch& parsed) {
        std::string note =
            fmt::format("{} elements, {} pointers", parsed.element_count, parsed.inputs.size() + 1);
        for (const auto& each : parsed.functor.notes)
            note += ", " + each;
        return note;
    }

    static std::int64_t alignment_of(std::uint64_t address) {
        return std::int64_t{1} << std::min(std::countr_zero(address), 8);
    }

    std::uint64_t bytes_of(TensorIndex index) const {
        const Tensor& tensor = lifted_.chain.tensor(index);
        return static_cast<std::uint64_t>(tensor.element_count()) * graph::size_bytes(tensor.dtype);
    }

    /// Nothing known may lie across [address, address + bytes) except a tensor of exactly that place.
    Result<void> check_overlap(std::uint64_t address, DType dtype) const {
        const std::uint64_t bytes = static_cast<std::uint64_t>(shape_[0]) * graph::size_bytes(dtype);
        for (const auto& [other, tensor] : tensor_at_) {
            const std::uint64_t other_bytes = bytes_of(tensor);
            if (other + other_bytes <= address || address + bytes <= other) continue;
            if (of_assumed_size_.contains(tensor)) continue; // it may be smaller
            if (other == address && other_bytes == bytes) continue;
            return failure(fmt::format("Its buffer at {:#x} overlaps another of the chain at {:#x} in part.",
                                       address, other));
        }
        return {};
    }

    Result<TensorIndex> read(std::uint64_t address, DType dtype) {
        DEEPJIT_CHECK(check_overlap(address, dtype));
        const auto found = tensor_at_.find(address);
        if (found != tensor_at_.end()) {
            Tensor& tensor = lifted_.chain.tensor(found->second);
            if (tensor.dtype != dtype)
                return failure(fmt::format("It reads {} where {} was written.", graph::name_of(dtype),
                                           graph::name_of(tensor.dtype)));
            // A kernel that says how many elements it reads tells the size of what an unknown one wrote.
            if (of_assumed_size_.erase(found->second) > 0) tensor.shape = shape_;
            return found->second;
        }
        Tensor tensor;
        tensor.role = TensorRole::Input;
        tensor.dtype = dtype;
        tensor.shape = shape_;
        tensor.alignment_bytes = alignment_of(address);
        const TensorIndex index = add_tensor(std::move(tensor));
        lifted_.chain.inputs.push_back(index);
        tensor_at_[address] = index;
        address_of_[index] = address;
        return index;
    }

    /// The kernel's name, reason and arguments. Its inputs are the tensors that it may read, its outputs
    /// those that it may write, where element type and extent are known.
    void add_open_op(const ObservedLaunch& launch, const std::string& reason) {
        Op op;
        op.type = std::string(graph::kOpen);
        op.source = launch.kernel_name;
        op.reason = reason;
        const std::vector<KnownArgument> arguments = known_arguments(launch);
        std::set<TensorIndex> reached;
        const auto add_input = [&](TensorIndex tensor) {
            if (reached.insert(tensor).second) op.inputs.push_back(tensor);
        };
        for (const KnownArgument& argument : arguments) {
            op.arguments.push_back(argument.shown);
            if (!argument.may_read()) continue;
            const auto found = tensor_at_.find(argument.use->address);
            if (found != tensor_at_.end())
                add_input(found->second);
            else if (!argument.may_write() && is_sized(argument))
                add_input(add_open_input(argument));
        }
        if (launch.buffers.empty())
            for (const TensorIndex tensor : tensors_among_words(launch.arguments.bytes))
                add_input(tensor);
        for (const KnownArgument& argument : arguments)
            if (argument.may_write() && argument.use->access != model::Access::Unknown && is_sized(argument))
                op.outputs.push_back(add_open_tensor(argument, TensorRole::Intermediate));
        lifted_.chain.ops.push_back(std::move(op));
        ++lifted_.open_ops;
    }

    /// Tensors of the chain whose address is an aligned word of the argument bytes.
    std::vector<TensorIndex> tensors_among_words(const std::string& bytes) const {
        std::vector<TensorIndex> tensors;
        for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + at, sizeof(word));
            const auto found = tensor_at_.find(word);
            if (found != tensor_at_.end()) tensors.push_back(found->second);
        }
        return tensors;
    }

    static bool is_sized(const KnownArgument& argument) {
        return argument.dtype && argument.use->footprint_bytes >= graph::size_bytes(*argument.dtype);
    }

    /// A tensor over all that the kernel can touch, which may be more than it does.
    TensorIndex add_open_tensor(const KnownArgument& argument, TensorRole role) {
        Tensor tensor;
        tensor.role = role;
        tensor.dtype = *argument.dtype;
        tensor.shape = {
            static_cast<std::int64_t>(argument.use->footprint_bytes / graph::size_bytes(*argument.dtype))};
        tensor.alignment_bytes = alignment_of(argument.use->address);
        const TensorIndex index = add_tensor(std::move(tensor));
        tensor_at_[argument.use->address] = index;
        address_of_[index] = argument.use->address;
        of_assumed_size_.insert(index);
        return index;
    }

    TensorIndex add_open_input(const KnownArgument& argument) {
        const TensorIndex index = add_open_tensor(argument, TensorRole::Input);
        lifted_.chain.inputs.push_back(index);
        return index;
    }

    /// What lies at an address behind the last launch is an output unless nothing outside can read it.
    void choose_outputs(const std::vector<ObservedWrite>& writes) {
        std::vector<TensorIndex> last_versions;
        for (const auto& [address, index] : tensor_at_)
            if (lifted_.chain.tensor(index).role == TensorRole::Intermediate) last_versions.push_back(index);
        std::sort(last_versions.begin(), last_versions.end());
        for (const TensorIndex index : last_versions) {
            const auto write = std::find_if(writes.begin(), writes.end(), [&](const ObservedWrite& each) {
                return each.address == address_of_.at(index);
            });
            const bool is_last = index == last_versions.back();
            if (!is_last && write != writes.end() && !write->escapes) continue;
            lifted_.chain.tensor(index).role = TensorRole::Output;
            lifted_.chain.outputs.push_back(index);
        }
        for (const auto& [index, address] : address_of_)
            lifted_.bindings.push_back({index, address});
    }

    void name_tensors() {
        auto& chain = lifted_.chain;
        for (std::size_t i = 0; i < chain.inputs.size(); ++i)
            chain.tensor(chain.inputs[i]).name = fmt::format("in{}", i);
        for (std::size_t i = 0; i < chain.outputs.size(); ++i)
            chain.tensor(chain.outputs[i]).name = chain.outputs.size() == 1 ? "out" : fmt::format("out{}", i);
        int values = 0;
        int constants = 0;
        for (Tensor& tensor : chain.tensors) {
            if (tensor.role == TensorRole::Intermediate) tensor.name = fmt::format("t{}", values++);
            if (tensor.role == TensorRole::Constant) tensor.name = fmt::format("scalar{}", constants++);
        }
    }

    LiftedChain lifted_;
    std::map<std::uint64_t, TensorIndex> tensor_at_; ///< by address, as of the launch being lifted
    std::map<TensorIndex, std::uint64_t> address_of_;
    std::set<TensorIndex> of_assumed_size_; ///< as large as their buffer, because nothing tells more
    std::vector<std::int64_t> shape_;
    std::string source_;
};

} // namespace

Result<LiftedChain> lift_launches(const std::string& name, const std::vector<ObservedLaunch>& launches,
                                  const std::vector<ObservedWrite>& writes, std::int64_t frames_observed) {
    if (launches.empty()) return failure(fmt::format("The chain '{}' has no kernels.", name));
    ChainLifter lifter(name, frames_observed);
    for (const auto& launch : launches)
        lifter.add(launch);
    return lifter.finish(writes);
}

} // namespace deepjit::lift
