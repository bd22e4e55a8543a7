#include "fusers/verify/kernel_sequence.hpp"

#include "fusers/jit/loaded_kernel.hpp"

#include <algorithm>

namespace deepjit::verify {

namespace {

using graph::TensorIndex;

/// A loaded kernel and the tensors of the whole chain that its parameters stand for.
struct Step {
    codegen::GeneratedKernel kernel;
    jit::LoadedKernel loaded;
    std::vector<gpu::Function> functions; ///< one for each entry
    std::vector<TensorIndex> tensors;     ///< one for each parameter
};

std::vector<TensorIndex> joined(std::vector<TensorIndex> inputs, const std::vector<TensorIndex>& outputs) {
    inputs.insert(inputs.end(), outputs.begin(), outputs.end());
    return inputs;
}

Result<Step> load_step(const gpu::Context& context, const codegen::GeneratedKernel& kernel,
                       const jit::CompiledKernel& compiled, std::vector<TensorIndex> tensors) {
    DEEPJIT_TRY(auto loaded, jit::LoadedKernel::load(context, compiled));
    std::vector<gpu::Function> functions;
    for (const codegen::EntryPoint& entry : kernel.entries) {
        DEEPJIT_TRY(const gpu::Function function, loaded.entry(entry.name));
        functions.push_back(function);
    }
    return Step{kernel, std::move(loaded), std::move(functions), std::move(tensors)};
}

Result<void> launch_step(const Step& step, const gpu::Stream& stream, const TensorAddresses& addresses) {
    std::vector<std::uint64_t> pointers;
    pointers.reserve(step.tensors.size());
    for (const TensorIndex tensor : step.tensors)
        pointers.push_back(addresses.at(tensor));
    std::vector<void*> arguments;
    arguments.reserve(pointers.size());
    for (std::uint64_t& pointer : pointers)
        arguments.push_back(&pointer);

    const codegen::EntryPoint& entry = codegen::entry_for(step.kernel, pointers);
    const auto place = static_cast<std::size_t>(&entry - step.kernel.entries.data());
    gpu::LaunchConfig config;
    config.grid[0] = entry.grid_blocks;
    config.block[0] = entry.block_threads;
    return gpu::launch(step.functions[place], config, stream, arguments.data());
}

} // namespace

struct KernelSequence::Impl {
    std::vector<Step> steps;
    std::vector<TensorIndex> scratch;
};

KernelSequence::KernelSequence(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KernelSequence::KernelSequence(KernelSequence&&) noexcept = default;
KernelSequence& KernelSequence::operator=(KernelSequence&&) noexcept = default;
KernelSequence::~KernelSequence() = default;

Result<KernelSequence> KernelSequence::load_fused(const gpu::Context& context, const graph::ChainGraph& chain,
                                                  const codegen::GeneratedKernel& kernel,
                                                  const jit::CompiledKernel& compiled) {
    DEEPJIT_TRY(auto step, load_step(context, kernel, compiled, joined(chain.inputs, chain.outputs)));
    auto impl = std::make_unique<Impl>();
    impl->steps.push_back(std::move(step));
    return KernelSequence(std::move(impl));
}

Result<KernelSequence> KernelSequence::build_originals(const gpu::Context& context,
                                                       const graph::ChainGraph& chain,
                                                       jit::KernelCache& cache) {
    DEEPJIT_TRY(const auto originals, split_into_originals(chain));
    DEEPJIT_TRY(const auto architecture, jit::parse_architecture(context.device().architecture()));

    std::vector<codegen::GeneratedKernel> kernels;
    std::vector<jit::CompileRequest> requests;
    for (const OriginalKernel& original : originals) {
        DEEPJIT_TRY(const auto plan, plan::plan_fusion(original.chain));
        DEEPJIT_TRY(auto kernel, codegen::generate(plan));
        requests.push_back(compile_request(kernel, architecture));
        kernels.push_back(std::move(kernel));
    }
    auto answers = cache.compile_all(requests);

    auto impl = std::make_unique<Impl>();
    for (std::size_t i = 0; i < originals.size(); ++i) {
        if (!answers[i]) return answers[i].error();
        DEEPJIT_TRY(auto step, load_step(context, kernels[i], *answers[i]->kernel,
                                         joined(originals[i].inputs, originals[i].outputs)));
        impl->steps.push_back(std::move(step));
        for (const TensorIndex output : originals[i].outputs)
            if (std::find(chain.outputs.begin(), chain.outputs.end(), output) == chain.outputs.end())
                impl->scratch.push_back(output);
    }
    return KernelSequence(std::move(impl));
}

std::size_t KernelSequence::launch_count() const {
    return impl_->steps.size();
}

const std::vector<TensorIndex>& KernelSequence::scratch_tensors() const {
    return impl_->scratch;
}

Result<void> KernelSequence::enqueue(const gpu::Stream& stream, const TensorAddresses& addresses) const {
    for (const Step& step : impl_->steps)
        DEEPJIT_CHECK(launch_step(step, stream, addresses));
    return {};
}

jit::CompileRequest compile_request(const codegen::GeneratedKernel& kernel,
                                    const jit::Architecture& architecture) {
    jit::CompileRequest request;
    request.name = kernel.name;
    request.source = kernel.source;
    request.architecture = architecture;
    return request;
}

} // namespace deepjit::verify
