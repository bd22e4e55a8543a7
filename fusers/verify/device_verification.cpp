#include "fusers/verify/device_verification.hpp"

#include "fusers/verify/element_codec.hpp"
#include "fusers/verify/guarded_buffer.hpp"
#include "fusers/verify/output_comparison.hpp"
#include "fusers/verify/test_cases.hpp"
#include "src/base/hash.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace deepjit::verify {

namespace {

using graph::ChainGraph;
using graph::Tensor;
using graph::TensorIndex;

/// One element; one that leaves a tail behind every vector width; more than one block with a tail.
constexpr std::array<std::int64_t, 3> kOddLengths = {1, 33, 4099};

/// Downloading inputs to see that they are unchanged is left out above this size.
constexpr std::int64_t kInputCheckElements = 1 << 20;

/// The memory of one test case.
struct CaseMemory {
    std::vector<GuardedBuffer> inputs;
    std::vector<GuardedBuffer> outputs;
    std::vector<GuardedBuffer> scratch;
    TensorAddresses addresses;
};

Result<GuardedBuffer> allocate_tensor(const Tensor& tensor, int shift_elements) {
    const std::size_t element_bytes = graph::size_bytes(tensor.dtype);
    return GuardedBuffer::allocate(static_cast<std::size_t>(tensor.element_count()) * element_bytes,
                                   static_cast<std::size_t>(shift_elements) * element_bytes);
}

Result<CaseMemory> prepare_memory(const ChainGraph& chain, const TestCase& test_case,
                                  const std::vector<TensorIndex>& scratch) {
    CaseMemory memory;
    for (std::size_t i = 0; i < chain.inputs.size(); ++i) {
        const Tensor& tensor = chain.tensor(chain.inputs[i]);
        DEEPJIT_TRY(auto buffer, allocate_tensor(tensor, test_case.shift_elements[i]));
        DEEPJIT_CHECK(buffer.upload(
            encode(test_case.inputs[i], tensor.dtype, static_cast<std::size_t>(tensor.element_count()))));
        memory.addresses[chain.inputs[i]] = buffer.address();
        memory.inputs.push_back(std::move(buffer));
    }
    for (std::size_t i = 0; i < chain.outputs.size(); ++i) {
        const int shift = test_case.shift_elements[chain.inputs.size() + i];
        DEEPJIT_TRY(auto buffer, allocate_tensor(chain.tensor(chain.outputs[i]), shift));
        memory.addresses[chain.outputs[i]] = buffer.address();
        memory.outputs.push_back(std::move(buffer));
    }
    for (const TensorIndex index : scratch) {
        DEEPJIT_TRY(auto buffer, allocate_tensor(chain.tensor(index), 0));
        memory.addresses[index] = buffer.address();
        memory.scratch.push_back(std::move(buffer));
    }
    return memory;
}

using StoredOutputs = std::vector<std::vector<std::byte>>;

Result<StoredOutputs> run_and_download(const gpu::Stream& stream, const KernelSequence& kernels,
                                       CaseMemory& memory) {
    for (GuardedBuffer& output : memory.outputs)
        DEEPJIT_CHECK(output.reset());
    // fill() works on the default stream, which this stream does not wait for.
    DEEPJIT_CHECK(stream.synchronize());
    DEEPJIT_CHECK(kernels.enqueue(stream, memory.addresses));
    DEEPJIT_CHECK(stream.synchronize());
    StoredOutputs stored;
    for (const GuardedBuffer& output : memory.outputs) {
        DEEPJIT_TRY(auto bytes, output.download());
        stored.push_back(std::move(bytes));
    }
    return stored;
}

Result<bool> inputs_unchanged(const ChainGraph& chain, const TestCase& test_case, const CaseMemory& memory) {
    for (std::size_t i = 0; i < memory.inputs.size(); ++i) {
        const Tensor& tensor = chain.tensor(chain.inputs[i]);
        if (tensor.element_count() > kInputCheckElements) continue;
        DEEPJIT_TRY(const auto bytes, memory.inputs[i].download());
        if (bytes !=
            encode(test_case.inputs[i], tensor.dtype, static_cast<std::size_t>(tensor.element_count())))
            return false;
    }
    return true;
}

/// Collects what one candidate did over all cases.
class VerdictBuilder {
  public:
    VerdictBuilder(const ChainGraph& chain, const gpu::Context& context, const Candidate& candidate) {
        verdict_.device_name = context.device().name;
        verdict_.chain_hash = graph::hash_of(chain);
        verdict_.source_hash = hash_hex(candidate.kernel.source);
        verdict_.original_side = kOriginalSideLabel;
        verdict_.rounding = chain.rounding;
        for (const TensorIndex index : chain.outputs) {
            OutputVerdict output;
            output.name = chain.tensor(index).name;
            output.dtype = chain.tensor(index).dtype;
            verdict_.outputs.push_back(std::move(output));
        }
    }

    void add_case(std::string label) { verdict_.cases.push_back(std::move(label)); }

    void add_outputs(const StoredOutputs& fused, const StoredOutputs& original,
                     const std::vector<Expected>& expected) {
        for (std::size_t i = 0; i < verdict_.outputs.size(); ++i) {
            OutputVerdict& output = verdict_.outputs[i];
            merge(output.fused, measure_stored(fused[i], expected[i], output.dtype, verdict_.rounding));
            merge(output.original,
                  measure_stored(original[i], expected[i], output.dtype, graph::Rounding::Match));
            output.different_bits += count_different_bits(fused[i], original[i], output.dtype);
        }
    }

    Result<void> add_surroundings(const ChainGraph& chain, const TestCase& test_case,
                                  const CaseMemory& memory) {
        for (const auto* buffers : {&memory.inputs, &memory.outputs}) {
            for (const GuardedBuffer& buffer : *buffers) {
                DEEPJIT_TRY(const std::int64_t changed, buffer.changed_guard_bytes());
                verdict_.guard_bytes_changed += changed;
            }
        }
        DEEPJIT_TRY(const bool unchanged, inputs_unchanged(chain, test_case, memory));
        verdict_.inputs_unchanged = verdict_.inputs_unchanged && unchanged;
        return {};
    }

    Verification finish() {
        verdict_.status = VerificationStatus::Passed;
        for (OutputVerdict& output : verdict_.outputs) {
            output.gate = judge(output.fused, output.original, output.dtype, output.name);
            if (!output.gate.passed) fail(output.gate.reason);
        }
        if (verdict_.guard_bytes_changed > 0)
            fail(fmt::format("{} bytes outside the tensors were overwritten", verdict_.guard_bytes_changed));
        if (!verdict_.inputs_unchanged) fail("an input was overwritten");
        if (verdict_.passed()) verdict_.reason = fmt::format("{} cases passed", verdict_.cases.size());
        return std::move(verdict_);
    }

  private:
    void fail(const std::string& reason) {
        verdict_.status = VerificationStatus::Failed;
        if (verdict_.reason.empty()) verdict_.reason = reason;
    }

    Verification verdict_;
};

Diagnostic faulted(const Candidate& candidate, const TestCase& test_case, Diagnostic cause) {
    return verification_error(fmt::format("the kernel of '{}' did not finish on the case '{}'",
                                          candidate.kernel.name, test_case.name),
                              std::move(cause.message), "please report it with the chain file");
}

/// One case: the originals once, then each candidate's kernels on the same memory.
Result<void> run_case(const gpu::Stream& stream, const ChainGraph& chain, const TestCase& test_case,
                      const std::vector<Candidate>& candidates, const std::vector<KernelSequence>& fused,
                      const KernelSequence& originals, std::vector<VerdictBuilder>& verdicts) {
    DEEPJIT_TRY(const auto expected, expected_for(chain, test_case));
    DEEPJIT_TRY(auto memory, prepare_memory(chain, test_case, originals.scratch_tensors()));
    DEEPJIT_TRY(const auto original_outputs, run_and_download(stream, originals, memory));
    DEEPJIT_TRY(const std::int64_t element_count, elementwise_count(chain));
    for (std::size_t i = 0; i < fused.size(); ++i) {
        auto outputs = run_and_download(stream, fused[i], memory);
        if (!outputs) return faulted(candidates[i], test_case, outputs.error());
        verdicts[i].add_case(fmt::format("{}, {} elements", test_case.name, format_count(element_count)));
        verdicts[i].add_outputs(*outputs, original_outputs, expected);
        DEEPJIT_CHECK(verdicts[i].add_surroundings(chain, test_case, memory));
    }
    return {};
}

/// The candidates generated with their configurations for another number of elements.
Result<std::vector<KernelSequence>> at_length(const gpu::Context& context, const ChainGraph& resized,
                                              const std::vector<Candidate>& candidates,
                                              jit::KernelCache& cache) {
    std::vector<codegen::GeneratedKernel> kernels;
    std::vector<jit::CompileRequest> requests;
    for (const Candidate& candidate : candidates) {
        plan::PlanOptions options;
        options.configuration = candidate.configuration;
        options.operands_may_alias = candidate.kernel.operands_may_alias;
        DEEPJIT_TRY(const auto plan, plan::plan_fusion(resized, options));
        DEEPJIT_TRY(auto kernel, codegen::generate(plan));
        requests.push_back(compile_request(kernel, candidate.compiled.architecture));
        kernels.push_back(std::move(kernel));
    }
    auto answers = cache.compile_all(requests);
    std::vector<KernelSequence> sequences;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (!answers[i]) return answers[i].error();
        DEEPJIT_TRY(auto sequence,
                    KernelSequence::load_fused(context, resized, kernels[i], *answers[i]->kernel));
        sequences.push_back(std::move(sequence));
    }
    return sequences;
}

bool runs_at_full_size(const TestCase& test_case, std::int64_t element_count) {
    return element_count <= kFullSizeElements || test_case.name.starts_with("random");
}

} // namespace

Result<std::vector<Verification>> verify_on_device(const gpu::Context& context, const ChainGraph& chain,
                                                   const std::vector<Candidate>& candidates,
                                                   const KernelSequence& originals, jit::KernelCache& cache) {
    DEEPJIT_TRY(const std::int64_t element_count, elementwise_count(chain));
    DEEPJIT_TRY(const auto stream, gpu::Stream::create());
    const std::vector<TestCase> cases = test_cases(chain);

    std::vector<VerdictBuilder> verdicts;
    std::vector<KernelSequence> fused;
    for (const Candidate& candidate : candidates) {
        verdicts.emplace_back(chain, context, candidate);
        DEEPJIT_TRY(auto sequence,
                    KernelSequence::load_fused(context, chain, candidate.kernel, candidate.compiled));
        fused.push_back(std::move(sequence));
    }
    for (const TestCase& test_case : cases)
        if (runs_at_full_size(test_case, element_count))
            DEEPJIT_CHECK(run_case(stream, chain, test_case, candidates, fused, originals, verdicts));

    std::vector<std::int64_t> lengths(kOddLengths.begin(), kOddLengths.end());
    if (element_count > kFullSizeElements) lengths.push_back(kFullSizeElements / 8 + 1);
    for (const std::int64_t length : lengths) {
        const ChainGraph resized = with_element_count(chain, length);
        DEEPJIT_TRY(const auto resized_fused, at_length(context, resized, candidates, cache));
        DEEPJIT_TRY(const auto resized_originals, KernelSequence::build_originals(context, resized, cache));
        for (const TestCase& test_case : cases)
            DEEPJIT_CHECK(
                run_case(stream, resized, test_case, candidates, resized_fused, resized_originals, verdicts));
    }

    std::vector<Verification> verifications;
    for (VerdictBuilder& verdict : verdicts)
        verifications.push_back(verdict.finish());
    return verifications;
}

} // namespace deepjit::verify
