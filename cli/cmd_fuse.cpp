#include "cli/cmd_fuse.hpp"

#include "cli/fuse_input.hpp"
#include "cli/fuse_open_ops.hpp"
#include "cli/fuse_result.hpp"
#include "cli/option_values.hpp"
#include "cli/trace_output.hpp"
#include "fusers/emit/emission.hpp"
#include "fusers/verify/experiments_log.hpp"
#include "fusers/verify/original_side.hpp"
#include "fusers/verify/tuning.hpp"
#include "src/base/files.hpp"
#include "src/base/text.hpp"
#include "src/base/units.hpp"
#include "src/gpu/context.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

namespace deepjit::cli {
namespace {

/// For a machine without a GPU: what most readers of a folder made there will run it on.
constexpr int kDefaultCapability = 90;

/// The compiled forms to put into the folder.
struct WantedImages {
    std::vector<int> cubins; ///< ascending
    int ptx = 0;
};

/// Said before anything is verified and timed, which takes longer than finding it out.
Result<void> check_supported(const std::set<int>& cubins, int ptx) {
    DEEPJIT_TRY(const auto supported, jit::supported_capabilities());
    std::set<int> wanted = cubins;
    wanted.insert(ptx);
    std::vector<std::string> names;
    for (const int capability : supported)
        names.push_back(fmt::format("sm_{}", capability));
    for (const int capability : wanted)
        if (std::find(supported.begin(), supported.end(), capability) == supported.end())
            return usage_error(fmt::format("the compiler of this machine does not know sm_{}", capability),
                               "it knows " + join_words(names), "choose one of those");
    return {};
}

Result<WantedImages> wanted_images(const std::vector<std::string>& asked_for, int default_capability) {
    std::set<int> cubins;
    int ptx = 0;
    for (const std::string& text : asked_for) {
        DEEPJIT_TRY(const auto architecture, jit::parse_architecture(text));
        if (!architecture.suffix.empty())
            return usage_error(fmt::format("'{}' gives up running on later devices", text), {},
                               fmt::format("use sm_{}", architecture.capability));
        if (architecture.is_ptx)
            ptx = std::max(ptx, architecture.capability);
        else
            cubins.insert(architecture.capability);
    }
    if (cubins.empty()) cubins.insert(ptx != 0 ? ptx : default_capability);
    if (ptx == 0) ptx = *cubins.rbegin();
    DEEPJIT_CHECK(check_supported(cubins, ptx));
    return WantedImages{{cubins.begin(), cubins.end()}, ptx};
}

/// What builds and runs the folder's example. A line that ends with && goes on, pasted as it is.
std::string example_commands(const std::filesystem::path& folder, const std::string& name) {
    const std::string source = shell_word(folder.string());
    const std::string build = shell_word((folder / "build").string());
    return fmt::format("cmake -S {} -B {} &&\ncmake --build {} &&\n{}/{}_example", source, build, build,
                       build, name);
}

/// The program that stands in for a GPU in `make demo`, as a path for a person; empty where it was not built.
std::string cpu_verifier() {
    std::error_code error;
    const std::filesystem::path program = executable_path().parent_path() / "verify_on_cpu";
    if (!std::filesystem::exists(program, error)) return {};
    const std::string absolute = program.string();
    const std::string relative = std::filesystem::proximate(program, error).string();
    return !error && relative.size() < absolute.size() ? relative : absolute;
}

int count_rejected(const std::vector<verify::Experiment>& experiments) {
    return static_cast<int>(std::count_if(experiments.begin(), experiments.end(), [](const auto& experiment) {
        return experiment.outcome == "rejected" || experiment.outcome.starts_with("failed");
    }));
}

class FuseCommand final : public Command {
  public:
    std::string_view name() const override { return "fuse"; }
    std::string_view description() const override {
        return "Turn a chain into one kernel, verified and timed";
    }
    std::string_view examples() const override {
        return "deepjit fuse trace.db --chain 1 --emit out\n"
               "deepjit fuse chain.json --emit out --name add_relu --arch sm_80,sm_90\n";
    }

    void add_options(CLI::App& app) override {
        app.add_option("input", input_, "Trace, or chain file")->type_name("FILE")->required();
        app.add_option("--chain", chain_, "Chain of the trace, as `advise` numbers them")->type_name("N");
        app.add_option("--short", short_, "Kernels below this are short, as for `advise`")
            ->type_name("TIME")
            ->capture_default_str();
        app.add_option("--emit", directory_, "Folder in which the kernel's folder is written")
            ->type_name("DIR")
            ->required();
        app.add_option("--name", name_, "Name of kernel and folder; default: the chain's")->type_name("NAME");
        app.add_option("--arch", architectures_, "Compile for these; default: the GPU's")
            ->type_name("sm_XX,...")
            ->delimiter(',')
            ->allow_extra_args(false);
        app.add_flag("--force", force_, "Replace a foreign or edited folder, which is kept");
        app.add_flag("--no-tune", no_tune_, "Take the first variant instead of timing several");
        app.add_option("--format", format_, "text or json")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"text", "json"}));
    }

    Result<ExitCode> run(Terminal& terminal) override {
        DEEPJIT_TRY(const double short_kernel_ns, parse_duration_ns(short_));
        std::optional<int> chain_number;
        if (!chain_.empty()) {
            DEEPJIT_TRY(const std::int64_t number, parse_count("--chain", chain_));
            chain_number = static_cast<int>(std::min<std::int64_t>(number, std::numeric_limits<int>::max()));
        }
        DEEPJIT_TRY(auto input, read_fuse_input(input_, chain_number, short_kernel_ns));
        const std::string name = emit::emitted_name(name_.empty() ? input.default_name : name_);
        if (!name_.empty() && name != name_)
            terminal.note(fmt::format("'{}' is no name for C++ and Python; using '{}'", name_, name));
        input.chain.name = name;

        const bool is_unfinished = std::any_of(input.chain.ops.begin(), input.chain.ops.end(),
                                               [](const auto& op) { return op.is_open(); });
        emit::WriteOptions write_options;
        write_options.force = force_;
        write_options.worth = is_unfinished ? emit::Worth::Unfinished : emit::Worth::Verified;
        if (!input.from_trace) write_options.edited_input = input_;
        DEEPJIT_CHECK(emit::check_replaceable(directory_, name, write_options));
        if (is_unfinished) return write_unfinished(input, name, write_options);

        DEEPJIT_CHECK(wanted_images(architectures_, kDefaultCapability));

        std::vector<verify::Experiment> experiments;
        auto tuning = tune(input.chain, experiments, terminal);
        log_experiments(experiments, terminal);
        DEEPJIT_TRY(auto tuned, std::move(tuning));
        if (tuned.verification.status == verify::VerificationStatus::Failed)
            return verification_error(
                "the fused kernel and the original kernels were not shown to be equal, so nothing was written",
                tuned.verification.reason,
                "please report it with the chain file; every variant is in the experiments log");
        if (tuned.verification.status != verify::VerificationStatus::Passed)
            write_options.worth = emit::Worth::Unverified;
        return emit_kernel(input.chain, name, std::move(tuned), experiments, write_options, terminal);
    }

    Result<ExitCode> write_unfinished(const FuseInput& input, const std::string& name,
                                      const emit::WriteOptions& options) const {
        std::string chain_file = input_;
        if (input.from_trace) {
            DEEPJIT_TRY(
                const auto written,
                emit::write_emitted_folder(directory_, name, emit::unfinished_files(input.chain), options));
            chain_file = (written.path / "chain.json").string();
        }
        return open_ops_refusal(
            input.chain, chain_file,
            fmt::format("deepjit fuse {} --emit {}", shell_word(chain_file), shell_word(directory_)));
    }

    Result<verify::TunedKernel> tune(const graph::ChainGraph& chain,
                                     std::vector<verify::Experiment>& experiments, Terminal& terminal) {
        jit::KernelCache& cache = jit::KernelCache::of_user();
        auto context = gpu::Context::retain_primary(0);
        if (!context) {
            terminal.note(fmt::format("no GPU to verify and time on: {}", context.error().message));
            DEEPJIT_TRY(const auto wanted, wanted_images(architectures_, kDefaultCapability));
            return verify::compile_only(chain, {wanted.cubins.front(), {}, false}, cache,
                                        context.error().message, experiments);
        }
        device_capability_ = context->device().compute_major * 10 + context->device().compute_minor;
        verify::TuningOptions options;
        options.tune = !no_tune_;
        options.progress = [&terminal](const std::string& sentence) { terminal.note(sentence); };
        return verify::tune_on_device(*context, chain, cache, options, experiments);
    }

    static void log_experiments(const std::vector<verify::Experiment>& experiments, Terminal& terminal) {
        auto log = verify::ExperimentsLog::open(verify::default_experiments_path());
        if (!log) return terminal.warn(log.error());
        for (const verify::Experiment& experiment : experiments) {
            const auto added = log->add(experiment);
            if (!added) return terminal.warn(added.error());
        }
    }

    Result<void> compile_images(emit::Emission& emission, Terminal& terminal) const {
        DEEPJIT_TRY(const auto wanted,
                    wanted_images(architectures_, device_capability_.value_or(kDefaultCapability)));
        std::vector<jit::CompileRequest> requests;
        for (const int capability : wanted.cubins)
            requests.push_back(verify::compile_request(emission.kernel, {capability, {}, false}));
        requests.push_back(verify::compile_request(emission.kernel, {wanted.ptx, {}, true}));
        const auto answers = jit::KernelCache::of_user().compile_all(requests);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (!answers[i]) return answers[i].error();
            for (const std::string& warning : answers[i]->warnings)
                terminal.note(warning);
            if (i < wanted.cubins.size())
                emission.images.push_back({wanted.cubins[i], answers[i]->kernel->image});
            else
                emission.ptx = answers[i]->kernel->image;
        }
        emission.ptx_capability = wanted.ptx;
        return {};
    }

    Result<ExitCode> emit_kernel(const graph::ChainGraph& chain, const std::string& name,
                                 verify::TunedKernel tuned,
                                 const std::vector<verify::Experiment>& experiments,
                                 const emit::WriteOptions& write_options, Terminal& terminal) const {
        DEEPJIT_TRY(const auto originals, verify::split_into_originals(chain));
        FuseResult result;
        result.original_kernels = static_cast<int>(originals.size());
        result.configuration = verify::describe(tuned.chosen.configuration);
        result.variants_tried = static_cast<int>(experiments.size());
        result.variants_rejected = count_rejected(experiments);
        result.emission.name = name;
        result.emission.chain = chain;
        result.emission.kernel = std::move(tuned.chosen.kernel);
        result.emission.verification = std::move(tuned.verification);
        result.emission.benchmark = std::move(tuned.benchmark);
        DEEPJIT_CHECK(compile_images(result.emission, terminal));
        DEEPJIT_TRY(const auto files, emit::emitted_files(result.emission));
        DEEPJIT_TRY(const auto written, emit::write_emitted_folder(directory_, name, files, write_options));
        result.folder = written.path;
        if (!written.replaced.empty())
            terminal.note(
                fmt::format("the folder that was there is kept as '{}'", written.replaced.string()));

        terminal.result(format_ == "json" ? fuse_json(result) : fuse_text(result, terminal.width()));
        say_what_next(written.path, name, terminal);
        return ExitCode::Done;
    }

    void say_what_next(const std::filesystem::path& folder, const std::string& name,
                       Terminal& terminal) const {
        const std::string example = example_commands(folder, name);
        if (device_capability_) return terminal.next_command(example);
        terminal.note("on a machine with an NVIDIA GPU, this builds and runs the example:\n" + example);
        const std::string verifier = cpu_verifier();
        if (!verifier.empty())
            terminal.next_command(fmt::format("{} {}", shell_word(verifier), shell_word(folder.string())));
    }

    std::string input_;
    std::string directory_;
    std::string name_;
    std::string format_ = "text";
    std::string short_ = kDefaultShort;
    std::string chain_;
    std::vector<std::string> architectures_;
    bool force_ = false;
    bool no_tune_ = false;
    std::optional<int> device_capability_;
};

} // namespace

std::unique_ptr<Command> make_fuse_command() {
    return std::make_unique<FuseCommand>();
}

} // namespace deepjit::cli
