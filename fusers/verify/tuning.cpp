#include "fusers/verify/tuning.hpp"

#include "fusers/verify/device_benchmark.hpp"
#include "src/base/hash.hpp"
#include "src/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace deepjit::verify {

namespace {

using graph::ChainGraph;

/// Enough for an interval; the winner is timed again with more.
constexpr BenchmarkOptions kVariantTiming{.calls_per_sample = 20, .rounds = 15, .seconds_per_state = 4.0};

/// A configuration on its way through compiling, the gate and timing.
struct Variant {
    std::optional<Candidate> candidate; ///< absent: it did not compile
    Experiment experiment;
};

bool has_local_memory(const Experiment& experiment) {
    return experiment.local_bytes_per_thread.value_or(0) > 0;
}

void record_resources(const jit::CompiledKernel& compiled, Experiment& experiment) {
    for (const jit::EntryResources& entry : compiled.entries) {
        experiment.registers_per_thread =
            std::max(experiment.registers_per_thread.value_or(0), entry.registers_per_thread);
        experiment.local_bytes_per_thread =
            std::max<std::int64_t>(experiment.local_bytes_per_thread.value_or(0), entry.stack_bytes);
    }
}

Result<Variant> compile_variant(const ChainGraph& chain, const plan::Configuration& configuration,
                                const jit::Architecture& architecture, jit::KernelCache& cache) {
    plan::PlanOptions plan_options;
    plan_options.configuration = configuration;
    DEEPJIT_TRY(const auto plan, plan::plan_fusion(chain, plan_options));
    DEEPJIT_TRY(auto kernel, codegen::generate(plan));

    Variant variant;
    variant.experiment.chain_name = chain.name;
    variant.experiment.chain_hash = graph::hash_of(chain);
    variant.experiment.source_hash = hash_hex(kernel.source);
    variant.experiment.configuration = describe(configuration);
    variant.experiment.architecture = architecture.name();
    auto answer = cache.compile(compile_request(kernel, architecture));
    if (!answer) {
        if (answer.error().kind != ErrorKind::Failed) return answer.error(); // no compiler: none will do
        variant.experiment.outcome = "failed to compile";
        variant.experiment.reason = answer.error().message + ": " + answer.error().evidence;
        return variant;
    }
    record_resources(*answer->kernel, variant.experiment);
    variant.candidate = Candidate{configuration, std::move(kernel), *answer->kernel};
    return variant;
}

Result<std::vector<Variant>> compile_variants(const ChainGraph& chain,
                                              const std::vector<plan::Configuration>& configurations,
                                              const jit::Architecture& architecture,
                                              jit::KernelCache& cache) {
    std::vector<Variant> variants;
    for (const plan::Configuration& configuration : configurations) {
        DEEPJIT_TRY(auto variant, compile_variant(chain, configuration, architecture, cache));
        variants.push_back(std::move(variant));
    }
    const bool any_without_local_memory =
        std::any_of(variants.begin(), variants.end(), [](const Variant& variant) {
            return variant.candidate && !has_local_memory(variant.experiment);
        });
    for (Variant& variant : variants) {
        if (!variant.candidate || !any_without_local_memory || !has_local_memory(variant.experiment))
            continue;
        variant.experiment.outcome = "rejected";
        variant.experiment.reason =
            fmt::format("uses {} bytes of local memory a thread", *variant.experiment.local_bytes_per_thread);
        variant.candidate.reset();
    }
    return variants;
}

Diagnostic none_compiled(const std::vector<Variant>& variants) {
    return failure("no variant of the fused kernel compiles", variants.empty()
                                                                  ? "there is no configuration to try"
                                                                  : variants.front().experiment.reason);
}

std::vector<Experiment> experiments_of(const std::vector<Variant>& variants) {
    std::vector<Experiment> experiments;
    for (const Variant& variant : variants)
        experiments.push_back(variant.experiment);
    return experiments;
}

double worst_error(const Verification& verification) {
    double worst = 0;
    for (const OutputVerdict& output : verification.outputs)
        worst = std::max(worst, output.fused.error);
    return worst;
}

/// The variants that compiled, in order, with what the gate said of each.
struct Judged {
    std::vector<std::size_t> places; ///< in the variants
    std::vector<Candidate> candidates;
    std::vector<Verification> verdicts;
};

Result<Judged> judge_variants(const gpu::Context& context, const ChainGraph& chain,
                              std::vector<Variant>& variants, const KernelSequence& originals,
                              jit::KernelCache& cache) {
    Judged judged;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (!variants[i].candidate) continue;
        judged.places.push_back(i);
        judged.candidates.push_back(*variants[i].candidate);
    }
    if (judged.candidates.empty()) return none_compiled(variants);
    DEEPJIT_TRY(judged.verdicts, verify_on_device(context, chain, judged.candidates, originals, cache));
    for (std::size_t i = 0; i < judged.verdicts.size(); ++i) {
        Experiment& experiment = variants[judged.places[i]].experiment;
        experiment.device_name = context.device().name;
        experiment.error = worst_error(judged.verdicts[i]);
        if (judged.verdicts[i].passed()) continue;
        experiment.outcome = "failed the gate";
        experiment.reason = judged.verdicts[i].reason;
    }
    return judged;
}

/// Times the variants that passed and returns the place of the winner in `judged`.
Result<std::size_t> choose_fastest(const gpu::Context& context, const ChainGraph& chain, const Judged& judged,
                                   std::vector<Variant>& variants) {
    std::vector<std::size_t> passed;
    std::vector<KernelSequence> sequences;
    for (std::size_t i = 0; i < judged.verdicts.size(); ++i) {
        if (!judged.verdicts[i].passed()) continue;
        const Candidate& candidate = judged.candidates[i];
        DEEPJIT_TRY(auto sequence,
                    KernelSequence::load_fused(context, chain, candidate.kernel, candidate.compiled));
        passed.push_back(i);
        sequences.push_back(std::move(sequence));
    }
    std::vector<const KernelSequence*> pointers;
    for (const KernelSequence& sequence : sequences)
        pointers.push_back(&sequence);
    DEEPJIT_TRY(const auto times, time_variants(context, chain, pointers, kVariantTiming));

    std::size_t best = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
        if (compare(times[i], times[best]) == Comparison::Faster) best = i;
    for (std::size_t i = 0; i < times.size(); ++i) {
        Experiment& experiment = variants[judged.places[passed[i]]].experiment;
        experiment.time_ns = times[i].median_ns;
        experiment.outcome = i == best ? "chosen" : "not chosen";
        if (i == best) continue;
        experiment.reason = fmt::format(
            "{} against {} of the chosen one: {}", format_duration(times[i].median_ns),
            format_duration(times[best].median_ns),
            compare(times[i], times[best]) == Comparison::Slower ? "slower" : "no separated gain over it");
    }
    return passed[best];
}

} // namespace

std::string describe(const plan::Configuration& configuration) {
    return fmt::format("block {}, {} vector{} a thread{}", configuration.block_threads,
                       configuration.vectors_per_thread, configuration.vectors_per_thread == 1 ? "" : "s",
                       configuration.streaming_stores ? ", streaming stores" : "");
}

Result<TunedKernel> tune_on_device(const gpu::Context& context, const ChainGraph& chain,
                                   jit::KernelCache& cache, const TuningOptions& options) {
    const auto progress = [&](const std::string& sentence) {
        if (options.progress) options.progress(sentence);
    };
    plan::DeviceFacts device;
    device.multiprocessors = context.device().multiprocessors;
    device.l2_bytes = context.device().l2_bytes;
    std::vector<plan::Configuration> configurations = options.configurations.empty()
                                                          ? plan::candidate_configurations(chain, device)
                                                          : options.configurations;
    if (!options.tune) configurations.resize(1);
    DEEPJIT_TRY(const auto architecture, jit::parse_architecture(context.device().architecture()));

    progress(fmt::format("compiling {} variant{} for {}", configurations.size(),
                         configurations.size() == 1 ? "" : "s", architecture.name()));
    DEEPJIT_TRY(auto variants, compile_variants(chain, configurations, architecture, cache));
    DEEPJIT_TRY(const auto originals, KernelSequence::build_originals(context, chain, cache));
    progress(fmt::format("verifying against float64 on {}", context.device().name));
    DEEPJIT_TRY(auto judged, judge_variants(context, chain, variants, originals, cache));

    TunedKernel tuned;
    const bool any_passed = std::any_of(judged.verdicts.begin(), judged.verdicts.end(),
                                        [](const Verification& verdict) { return verdict.passed(); });
    std::size_t chosen = 0;
    if (any_passed) {
        progress("timing");
        DEEPJIT_TRY(chosen, choose_fastest(context, chain, judged, variants));
    }
    tuned.chosen = judged.candidates[chosen];
    tuned.verification = std::move(judged.verdicts[chosen]);
    if (any_passed) {
        DEEPJIT_TRY(const auto fused,
                    KernelSequence::load_fused(context, chain, tuned.chosen.kernel, tuned.chosen.compiled));
        DEEPJIT_TRY(tuned.benchmark, benchmark_four_ways(context, chain, originals, fused));
    } else {
        tuned.benchmark.reason = "the kernel did not pass the numeric gate";
    }
    tuned.experiments = experiments_of(variants);
    return tuned;
}

Result<TunedKernel> compile_only(const ChainGraph& chain, const jit::Architecture& architecture,
                                 jit::KernelCache& cache, const std::string& reason) {
    const plan::Configuration configuration = plan::candidate_configurations(chain).front();
    DEEPJIT_TRY(auto variants, compile_variants(chain, {configuration}, architecture, cache));
    if (!variants.front().candidate) return none_compiled(variants);
    variants.front().experiment.outcome = "not run";
    variants.front().experiment.reason = reason;

    TunedKernel tuned;
    tuned.chosen = *variants.front().candidate;
    tuned.verification = not_run(reason);
    tuned.verification.chain_hash = variants.front().experiment.chain_hash;
    tuned.verification.source_hash = variants.front().experiment.source_hash;
    tuned.benchmark.reason = reason;
    tuned.experiments = experiments_of(variants);
    return tuned;
}

} // namespace deepjit::verify
