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
constexpr BenchmarkOptions kVariantTiming{.calls_per_sample = 20, .rounds = 15, .seconds_per_state = 3.0};

/// A configuration on its way through compiling, the gate and timing.
struct Variant {
    std::optional<Candidate> candidate; ///< absent: it did not compile, or was rejected
    std::optional<Estimate> time;       ///< present: it passed screening
    Experiment experiment;

    void reject(std::string outcome, std::string reason) {
        experiment.outcome = std::move(outcome);
        experiment.reason = std::move(reason);
        candidate.reset();
    }
};

bool has_local_memory(const Variant& variant) {
    return variant.experiment.local_bytes_per_thread.value_or(0) > 0;
}

void record_resources(const jit::CompiledKernel& compiled, Experiment& experiment) {
    for (const jit::EntryResources& entry : compiled.entries) {
        experiment.registers_per_thread =
            std::max(experiment.registers_per_thread.value_or(0), entry.registers_per_thread);
        experiment.local_bytes_per_thread =
            std::max<std::int64_t>(experiment.local_bytes_per_thread.value_or(0), entry.stack_bytes);
    }
}

Experiment experiment_for(const ChainGraph& chain, const codegen::GeneratedKernel& kernel,
                          const plan::Configuration& configuration, const jit::Architecture& architecture) {
    Experiment experiment;
    experiment.chain_name = chain.name;
    experiment.chain_hash = graph::hash_of(chain);
    experiment.source_hash = hash_hex(kernel.source);
    experiment.configuration = describe(configuration);
    experiment.architecture = architecture.name();
    return experiment;
}

/// Where at least one variant keeps everything in registers, those that do not are rejected.
void reject_local_memory(std::vector<Variant>& variants) {
    const bool has_choice = std::any_of(variants.begin(), variants.end(), [](const Variant& variant) {
        return variant.candidate && !has_local_memory(variant);
    });
    if (!has_choice) return;
    for (Variant& variant : variants)
        if (variant.candidate && has_local_memory(variant))
            variant.reject("rejected", fmt::format("uses {} bytes of local memory a thread",
                                                   *variant.experiment.local_bytes_per_thread));
}

Result<std::vector<Variant>> compile_variants(const ChainGraph& chain,
                                              const std::vector<plan::Configuration>& configurations,
                                              const jit::Architecture& architecture,
                                              jit::KernelCache& cache) {
    std::vector<Variant> variants;
    std::vector<codegen::GeneratedKernel> kernels;
    std::vector<jit::CompileRequest> requests;
    for (const plan::Configuration& configuration : configurations) {
        plan::PlanOptions options;
        options.configuration = configuration;
        DEEPJIT_TRY(const auto plan, plan::plan_fusion(chain, options));
        DEEPJIT_TRY(auto kernel, codegen::generate(plan));
        Variant variant;
        variant.experiment = experiment_for(chain, kernel, configuration, architecture);
        variants.push_back(std::move(variant));
        requests.push_back(compile_request(kernel, architecture));
        kernels.push_back(std::move(kernel));
    }
    auto answers = cache.compile_all(requests);
    for (std::size_t i = 0; i < variants.size(); ++i) {
        if (!answers[i]) {
            const Diagnostic& error = answers[i].error();
            if (error.kind != ErrorKind::Failed) return error; // no compiler: none will do
            variants[i].reject("failed to compile", error.message + ": " + error.evidence);
            continue;
        }
        record_resources(*answers[i]->kernel, variants[i].experiment);
        variants[i].candidate = Candidate{configurations[i], std::move(kernels[i]), *answers[i]->kernel};
    }
    reject_local_memory(variants);
    return variants;
}

Diagnostic none_compiled(const std::vector<Variant>& variants) {
    return failure("no variant of the fused kernel compiles", variants.empty()
                                                                  ? "there is no configuration to try"
                                                                  : variants.front().experiment.reason);
}

void append_experiments(const std::vector<Variant>& variants, std::vector<Experiment>& experiments) {
    for (const Variant& variant : variants)
        experiments.push_back(variant.experiment);
}

double worst_error(const Verification& verification) {
    double worst = 0;
    for (const OutputVerdict& output : verification.outputs)
        worst = std::max(worst, output.fused.error);
    return worst;
}

/// One tuning run on one device.
class Tuner {
  public:
    Tuner(const gpu::Context& context, const ChainGraph& chain, jit::KernelCache& cache,
          const KernelSequence& originals, std::vector<Variant>& variants)
        : context_(context), chain_(chain), cache_(cache), originals_(originals), variants_(variants) {}

    /// Runs the screening gate on all variants that are left and drops those that fail.
    Result<void> screen() {
        const std::vector<std::size_t> places = remaining();
        std::vector<Candidate> candidates;
        for (const std::size_t place : places)
            candidates.push_back(*variants_[place].candidate);
        DEEPJIT_TRY(auto verdicts,
                    verify_on_device(context_, chain_, candidates, originals_, cache_, GateScope::Screening));
        for (std::size_t i = 0; i < places.size(); ++i)
            record_verdict(variants_[places[i]], verdicts[i]);
        return {};
    }

    /// Times the variants that are left.
    Result<void> time() {
        const std::vector<std::size_t> places = remaining();
        if (places.empty()) return {};
        std::vector<KernelSequence> sequences;
        for (const std::size_t place : places) {
            const Candidate& candidate = *variants_[place].candidate;
            DEEPJIT_TRY(auto sequence,
                        KernelSequence::load_fused(context_, chain_, candidate.kernel, candidate.compiled));
            sequences.push_back(std::move(sequence));
        }
        std::vector<const KernelSequence*> pointers;
        for (const KernelSequence& sequence : sequences)
            pointers.push_back(&sequence);
        DEEPJIT_TRY(const auto times, time_variants(context_, chain_, pointers, kVariantTiming));
        for (std::size_t i = 0; i < places.size(); ++i) {
            variants_[places[i]].time = times[i];
            variants_[places[i]].experiment.time_ns = times[i].median_ns;
        }
        return {};
    }

    /// Gives the full gate to the fastest variant that is left, then to the next, until one passes; or says
    /// with the last verdict that none does.
    Result<TunedKernel> choose() {
        TunedKernel tuned;
        for (std::vector<std::size_t> places = remaining(); !places.empty(); places = remaining()) {
            Variant& fastest = variants_[fastest_of(places)];
            tuned.chosen = *fastest.candidate;
            DEEPJIT_TRY(auto verdicts, verify_on_device(context_, chain_, {tuned.chosen}, originals_, cache_,
                                                        GateScope::Full));
            tuned.verification = std::move(verdicts.front());
            record_verdict(fastest, tuned.verification);
            if (!tuned.verification.passed()) continue;
            fastest.experiment.outcome = "chosen";
            explain_others(fastest);
            return tuned;
        }
        return tuned;
    }

    const Verification& last_failure() const { return last_failure_; }

  private:
    std::vector<std::size_t> remaining() const {
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < variants_.size(); ++i)
            if (variants_[i].candidate) places.push_back(i);
        return places;
    }

    void record_verdict(Variant& variant, const Verification& verdict) {
        variant.experiment.device_name = context_.device().name;
        variant.experiment.error = worst_error(verdict);
        if (verdict.passed()) return;
        last_failure_ = verdict;
        variant.experiment.time_ns.reset(); // no time without a verdict
        variant.reject("failed the gate", verdict.reason);
    }

    /// The first, unless a later one is faster by separated intervals.
    std::size_t fastest_of(const std::vector<std::size_t>& places) const {
        std::size_t best = places.front();
        for (const std::size_t place : places) {
            const auto& time = variants_[place].time;
            if (time && variants_[best].time && compare(*time, *variants_[best].time) == Comparison::Faster)
                best = place;
        }
        return best;
    }

    void explain_others(const Variant& chosen) {
        for (const std::size_t place : remaining()) {
            Variant& other = variants_[place];
            if (&other == &chosen || !other.time || !chosen.time) continue;
            const bool slower = compare(*other.time, *chosen.time) == Comparison::Slower;
            other.experiment.outcome = "not chosen";
            other.experiment.reason =
                fmt::format("{}: {} against {} of the chosen one", slower ? "slower" : "no separated gain",
                            format_duration(other.time->median_ns), format_duration(chosen.time->median_ns));
        }
    }

    const gpu::Context& context_;
    const ChainGraph& chain_;
    jit::KernelCache& cache_;
    const KernelSequence& originals_;
    std::vector<Variant>& variants_;
    Verification last_failure_;
};

Result<TunedKernel> tune_variants(const gpu::Context& context, const ChainGraph& chain,
                                  jit::KernelCache& cache, std::vector<Variant>& variants,
                                  const std::function<void(const std::string&)>& progress) {
    DEEPJIT_TRY(const auto originals, KernelSequence::build_originals(context, chain, cache));
    Tuner tuner(context, chain, cache, originals, variants);
    progress(fmt::format("verifying against float64 on {}", context.device().name));
    if (variants.size() > 1) {
        DEEPJIT_CHECK(tuner.screen());
        progress("timing the variants");
        DEEPJIT_CHECK(tuner.time());
        progress("verifying the fastest in full");
    }
    DEEPJIT_TRY(auto tuned, tuner.choose());
    if (!tuned.verification.passed()) {
        tuned.verification = tuner.last_failure();
        tuned.benchmark.reason = "the kernel did not pass the numeric gate";
        return tuned;
    }
    progress("timing it against the originals, in a stream and in a graph");
    DEEPJIT_TRY(const auto fused,
                KernelSequence::load_fused(context, chain, tuned.chosen.kernel, tuned.chosen.compiled));
    DEEPJIT_TRY(tuned.benchmark, benchmark_four_ways(context, chain, originals, fused));
    return tuned;
}

} // namespace

std::string describe(const plan::Configuration& configuration) {
    return fmt::format("block {}, {} {}-byte vector{} a thread{}", configuration.block_threads,
                       configuration.vectors_per_thread, configuration.vector_bytes,
                       configuration.vectors_per_thread == 1 ? "" : "s",
                       configuration.streaming_stores ? ", streaming stores" : "");
}

Result<TunedKernel> tune_on_device(const gpu::Context& context, const ChainGraph& chain,
                                   jit::KernelCache& cache, const TuningOptions& options,
                                   std::vector<Experiment>& experiments) {
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
    const bool any_compiled = std::any_of(variants.begin(), variants.end(), [](const Variant& variant) {
        return variant.candidate.has_value();
    });
    auto tuned = any_compiled ? tune_variants(context, chain, cache, variants, progress)
                              : Result<TunedKernel>(none_compiled(variants));
    if (!tuned) {
        for (Variant& variant : variants)
            if (variant.experiment.outcome.empty()) variant.reject("no verdict", tuned.error().message);
    }
    append_experiments(variants, experiments);
    return tuned;
}

Result<TunedKernel> compile_only(const ChainGraph& chain, const jit::Architecture& architecture,
                                 jit::KernelCache& cache, const std::string& reason,
                                 std::vector<Experiment>& experiments) {
    const plan::Configuration configuration = plan::candidate_configurations(chain).front();
    DEEPJIT_TRY(auto variants, compile_variants(chain, {configuration}, architecture, cache));
    Variant& only = variants.front();
    if (only.candidate) {
        only.experiment.outcome = "not run";
        only.experiment.reason = reason;
    }
    append_experiments(variants, experiments);
    if (!only.candidate) return none_compiled(variants);

    TunedKernel tuned;
    tuned.chosen = *only.candidate;
    tuned.verification = not_run(reason);
    tuned.verification.chain_hash = only.experiment.chain_hash;
    tuned.verification.source_hash = only.experiment.source_hash;
    tuned.benchmark.reason = reason;
    return tuned;
}

} // namespace deepjit::verify
