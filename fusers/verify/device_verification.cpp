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
        DEEPJIT_CHECK(buffer.upload(tensor, test_case.inputs[i]));
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

/// Where the kernels run. The stream does not wait for the default one, in which buffers are filled.
struct Device {
    const gpu::Context& context;
    const gpu::Stream& stream;
};

Result<StoredOutputs> run_and_download(const Device& device, const KernelSequence& kernels,
                                       CaseMemory& memory) {
    for (GuardedBuffer& output : memory.outputs)
        DEEPJIT_CHECK(output.reset());
    // Uploads and fills may still be under way when their calls return (CUDA driver API, "API synchronization
    // behavior").
    DEEPJIT_CHECK(device.context.synchronize());
    const gpu::Stream& stream = device.stream;
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

/// What one case is judged by: references, and what the original kernels stored.
struct CaseReference {
    const std::vector<Expected>& expected;
    StoredOutputs original_outputs;
    std::vector<OutputError> original_errors;
};

CaseReference make_reference(const ChainGraph& chain, const std::vector<Expected>& expected,
                             StoredOutputs original_outputs) {
    CaseReference reference{expected, std::move(original_outputs), {}};
    for (std::size_t i = 0; i < expected.size(); ++i)
        reference.original_errors.push_back(measure_stored(reference.original_outputs[i], expected[i],
                                                           chain.tensor(chain.outputs[i]).dtype,
                                                           graph::Rounding::Match));
    return reference;
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

    void add_outputs(const StoredOutputs& fused, const CaseReference& reference) {
        for (std::size_t i = 0; i < verdict_.outputs.size(); ++i) {
            OutputVerdict& output = verdict_.outputs[i];
            merge(output.fused,
                  measure_stored(fused[i], reference.expected[i], output.dtype, verdict_.rounding));
            merge(output.original, reference.original_errors[i]);
            output.different_bits +=
                count_different_bits(fused[i], reference.original_outputs[i], output.dtype);
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

/// A test case with its references, which are the same for every number of elements above one.
struct PreparedCase {
    TestCase test_case;
    std::vector<Expected> expected;
};

Result<std::vector<PreparedCase>> prepare_cases(const ChainGraph& chain) {
    std::vector<PreparedCase> prepared;
    for (TestCase& test_case : test_cases(chain)) {
        DEEPJIT_TRY(auto expected, expected_for(chain, test_case));
        prepared.push_back({std::move(test_case), std::move(expected)});
    }
    return prepared;
}

/// Kernels of one number of elements: the candidates' and the originals.
struct SizedKernels {
    const ChainGraph& chain;
    const std::vector<KernelSequence>& fused;
    const KernelSequence& originals;
};

/// One case: the originals once, then each candidate's kernels on the same memory.
Result<void> run_case(const Device& device, const SizedKernels& kernels, const PreparedCase& prepared,
                      const std::vector<Candidate>& candidates, std::vector<VerdictBuilder>& verdicts) {
    const ChainGraph& chain = kernels.chain;
    const TestCase& test_case = prepared.test_case;
    DEEPJIT_TRY(auto memory, prepare_memory(chain, test_case, kernels.originals.scratch_tensors()));
    DEEPJIT_TRY(auto original_outputs, run_and_download(device, kernels.originals, memory));
    const CaseReference reference = make_reference(chain, prepared.expected, std::move(original_outputs));
    DEEPJIT_TRY(const std::int64_t element_count, elementwise_count(chain));
    for (std::size_t i = 0; i < kernels.fused.size(); ++i) {
        auto outputs = run_and_download(device, kernels.fused[i], memory);
        if (!outputs) return faulted(candidates[i], test_case, outputs.error());
        verdicts[i].add_case(fmt::format("{}, {} elements", test_case.name, format_count(element_count)));
        verdicts[i].add_outputs(*outputs, reference);
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

/// All cases with kernels generated for `length` elements.
Result<void> run_at_length(const Device& device, const ChainGraph& chain, std::int64_t length,
                           const std::vector<PreparedCase>& cases, const std::vector<Candidate>& candidates,
                           jit::KernelCache& cache, std::vector<VerdictBuilder>& verdicts) {
    const ChainGraph resized = with_element_count(chain, length);
    DEEPJIT_TRY(const auto fused, at_length(device.context, resized, candidates, cache));
    DEEPJIT_TRY(const auto originals, KernelSequence::build_originals(device.context, resized, cache));
    const SizedKernels kernels{resized, fused, originals};
    if (length > 1) {
        for (const PreparedCase& prepared : cases)
            DEEPJIT_CHECK(run_case(device, kernels, prepared, candidates, verdicts));
        return {};
    }
    DEEPJIT_TRY(const auto single_element_cases, prepare_cases(resized));
    for (const PreparedCase& prepared : single_element_cases)
        DEEPJIT_CHECK(run_case(device, kernels, prepared, candidates, verdicts));
    return {};
}

/// The kernels that were passed in, at the chain's own size.
Result<void> run_at_own_size(const Device& device, const ChainGraph& chain,
                             const std::vector<PreparedCase>& cases, const std::vector<Candidate>& candidates,
                             const KernelSequence& originals, std::vector<VerdictBuilder>& verdicts) {
    DEEPJIT_TRY(const std::int64_t element_count, elementwise_count(chain));
    std::vector<KernelSequence> fused;
    for (const Candidate& candidate : candidates) {
        DEEPJIT_TRY(auto sequence,
                    KernelSequence::load_fused(device.context, chain, candidate.kernel, candidate.compiled));
        fused.push_back(std::move(sequence));
    }
    const SizedKernels kernels{chain, fused, originals};
    for (const PreparedCase& prepared : cases) {
        if (element_count > kFullSizeElements && !prepared.test_case.name.starts_with("random")) continue;
        DEEPJIT_CHECK(run_case(device, kernels, prepared, candidates, verdicts));
    }
    return {};
}

} // namespace

Result<std::vector<Verification>> verify_on_device(const gpu::Context& context, const ChainGraph& chain,
                                                   const std::vector<Candidate>& candidates,
                                                   const KernelSequence& originals, jit::KernelCache& cache,
                                                   GateScope scope) {
    DEEPJIT_TRY(const std::int64_t element_count, elementwise_count(chain));
    DEEPJIT_TRY(const auto stream, gpu::Stream::create());
    const Device device{context, stream};
    DEEPJIT_TRY(const auto cases, prepare_cases(chain));
    std::vector<VerdictBuilder> verdicts;
    for (const Candidate& candidate : candidates)
        verdicts.emplace_back(chain, context, candidate);

    const bool is_large = element_count > kFullSizeElements;
    if (scope == GateScope::Full || !is_large)
        DEEPJIT_CHECK(run_at_own_size(device, chain, cases, candidates, originals, verdicts));
    std::vector<std::int64_t> lengths;
    if (scope == GateScope::Full) lengths.assign(kOddLengths.begin(), kOddLengths.end());
    if (is_large) lengths.push_back(kScreeningElements);
    for (const std::int64_t length : lengths)
        DEEPJIT_CHECK(run_at_length(device, chain, length, cases, candidates, cache, verdicts));

    std::vector<Verification> verifications;
    for (VerdictBuilder& verdict : verdicts)
        verifications.push_back(verdict.finish());
    return verifications;
}

} // namespace deepjit::verify
