// usage: verify_on_cpu OUT/NAME
//
// Compiles the NAME.cu of an emitted folder with the host compiler, runs it on random and adversarial values,
// and compares it with the float64 interpreter of its chain.json. Exit 0 verified, 1 cannot tell, 5 wrong.

#include "src/base/files.hpp"
#include "src/base/units.hpp"
#include "src/graph/interpreter.hpp"
#include "tests/cpu/emitted_library.hpp"
#include "tests/cpu/stored_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string_view>

namespace {

using namespace deepjit;
using graph::Values;

/// Elements that are compared: all, or as many from the front, the back and evenly in between.
constexpr std::size_t kMostCompared = std::size_t{1} << 18;

constexpr int kWrong = 5;

struct Verdict {
    double fused_error = 0;    ///< largest error of the fused kernel against float64, see error_of
    double original_error = 0; ///< the same of the original kernels' arithmetic
    std::size_t different = 0; ///< elements that differ from the original's arithmetic
    bool nan_mismatch = false;
    bool guards_whole = true;
};

struct EmittedFolder {
    std::string source;
    graph::ChainGraph chain;
    std::string entry;
    unsigned int block_threads = 0;
};

Result<EmittedFolder> open_folder(const std::filesystem::path& folder, std::string_view entry_suffix) {
    EmittedFolder opened;
    DEEPJIT_TRY(const std::string json, read_file(folder / "chain.json"));
    DEEPJIT_TRY(opened.chain, graph::from_json(json));
    DEEPJIT_TRY(opened.source, read_file(folder / (opened.chain.name + ".cu")));
    opened.entry = opened.chain.name + std::string(entry_suffix);
    constexpr std::string_view kBounds = "__launch_bounds__(";
    const std::size_t name_at = opened.source.find(" " + opened.entry + "(");
    const std::size_t at = name_at == std::string::npos ? name_at : opened.source.rfind(kBounds, name_at);
    if (at == std::string::npos) return failure("The emitted text has no kernel '" + opened.entry + "'.");
    opened.block_threads = static_cast<unsigned int>(std::atoi(opened.source.c_str() + at + kBounds.size()));
    if (opened.block_threads == 0) return failure("The emitted kernel states no block size.");
    return opened;
}

std::vector<std::size_t> compared_elements(std::size_t count) {
    std::vector<std::size_t> elements;
    if (count <= kMostCompared) {
        for (std::size_t i = 0; i < count; ++i)
            elements.push_back(i);
        return elements;
    }
    const std::size_t part = kMostCompared / 4;
    const std::size_t step = (count - 2 * part) / (2 * part) + 1;
    for (std::size_t i = 0; i < count;
         i += i < part || i >= count - part ? 1 : std::min(step, count - part - i))
        elements.push_back(i);
    return elements;
}

Values pick(const Values& values, const std::vector<std::size_t>& elements) {
    Values picked;
    for (const std::size_t element : elements)
        picked.push_back(values[element]);
    return picked;
}

/// |got - reference| relative to the reference, or to 1 where that is smaller.
double error_of(double got, double reference) {
    if (got == reference || (std::isnan(got) && std::isnan(reference))) return 0;
    return std::abs(got - reference) / std::max(1.0, std::abs(reference));
}

void compare(const Values& got, const Values& reference, const Values& original, Verdict& verdict) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        verdict.nan_mismatch = verdict.nan_mismatch || std::isnan(got[i]) != std::isnan(original[i]);
        const bool both_nan = std::isnan(got[i]) && std::isnan(original[i]);
        if (!both_nan && got[i] != original[i]) ++verdict.different;
        // Where the format overflows, its infinity is no error of the kernel.
        if (!std::isfinite(reference[i]) || !std::isfinite(original[i])) continue;
        verdict.fused_error = std::max(verdict.fused_error, error_of(got[i], reference[i]));
        verdict.original_error = std::max(verdict.original_error, error_of(original[i], reference[i]));
    }
}

/// The chain on fewer elements: it is elementwise, so that each stands for itself.
graph::ChainGraph resized(graph::ChainGraph chain, std::size_t elements) {
    const auto& first = chain.tensor(chain.outputs[0]);
    const auto shape = first.shape;
    for (auto& tensor : chain.tensors)
        if (tensor.shape == shape && tensor.role != graph::TensorRole::Constant) {
            tensor.shape = {static_cast<std::int64_t>(elements)};
            tensor.strides.clear();
        }
    return chain;
}

Result<Verdict> verify_entry(const EmittedFolder& emitted, const testing::EmittedLibrary& library,
                             std::size_t shift_elements) {
    const auto& chain = emitted.chain;
    const auto count = static_cast<std::size_t>(chain.tensor(chain.outputs[0]).element_count());
    std::mt19937_64 random(20240607);
    std::vector<testing::StoredValues> buffers;
    std::vector<Values> inputs;
    const auto elements = compared_elements(count);
    for (const auto index : chain.inputs) {
        const Values values = testing::random_values(chain.tensor(index).dtype, count, random);
        buffers.emplace_back(chain.tensor(index).dtype, count, shift_elements);
        buffers.back().write(values);
        inputs.push_back(pick(values, elements));
    }
    for (const auto index : chain.outputs)
        buffers.emplace_back(chain.tensor(index).dtype, count, shift_elements);
    std::vector<void*> pointers;
    for (auto& buffer : buffers)
        pointers.push_back(buffer.data());
    const auto launch = library.find(emitted.entry);
    if (launch == nullptr) return failure("The compiled text lacks the kernel '" + emitted.entry + "'.");
    // A thread computes at least one element and checks its bounds, so that one thread an element is enough.
    const auto grid = static_cast<unsigned int>((count + emitted.block_threads - 1) / emitted.block_threads);
    launch(grid, emitted.block_threads, pointers.data());

    const auto sample = resized(chain, elements.size());
    DEEPJIT_TRY(const auto reference, graph::interpret(sample, inputs, graph::Arithmetic::Float64));
    DEEPJIT_TRY(const auto original, graph::interpret(sample, inputs, graph::Arithmetic::Rounded));
    Verdict verdict;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        verdict.guards_whole = verdict.guards_whole && buffers[i].guards_are_whole();
        if (i < inputs.size()) continue;
        const std::size_t output = i - inputs.size();
        compare(pick(buffers[i].read(), elements), reference[output], original[output], verdict);
    }
    return verdict;
}

/// The numeric gate: the fused error is at most the original's plus one unit of the widest output type.
bool passes(const Verdict& verdict, const graph::ChainGraph& chain) {
    double margin = 0;
    for (const auto index : chain.outputs)
        margin = std::max(margin, graph::epsilon_of(chain.tensor(index).dtype));
    return !verdict.nan_mismatch && verdict.guards_whole &&
           verdict.fused_error <= verdict.original_error + margin;
}

int report_failure(const Diagnostic& error) {
    std::fprintf(stderr, "verify_on_cpu: %s\n%s%s", error.message.c_str(), error.evidence.c_str(),
                 error.evidence.empty() ? "" : "\n");
    return 1;
}

int verify(const std::filesystem::path& folder) {
    int status = 0;
    for (const auto& [suffix, shift] : {std::pair{"_vector", 0}, {"_scalar", 1}}) {
        const auto emitted = open_folder(folder, suffix);
        // Tensors shorter than one vector have no vector entry.
        if (!emitted && shift == 0) continue;
        if (!emitted) return report_failure(emitted.error());
        const auto library = testing::EmittedLibrary::build({{emitted->source, {emitted->entry}}});
        if (!library) return report_failure(library.error());
        const auto verdict = verify_entry(*emitted, *library, static_cast<std::size_t>(shift));
        if (!verdict) return report_failure(verdict.error());
        const bool passed = passes(*verdict, emitted->chain);
        const auto& output = emitted->chain.tensor(emitted->chain.outputs[0]);
        std::printf(
            "%-32s %s on the CPU, %s elements: error against float64 %.2e, of the original kernels' "
            "arithmetic %.2e; %s%s%s\n",
            emitted->entry.c_str(), passed ? "verified" : "WRONG",
            format_count(output.element_count()).c_str(), verdict->fused_error, verdict->original_error,
            verdict->different == 0
                ? "identical to it"
                : (format_count(static_cast<std::int64_t>(verdict->different)) + " elements differ from it")
                      .c_str(),
            verdict->nan_mismatch ? "; NaNs differ" : "",
            verdict->guards_whole ? "" : "; wrote outside of its buffers");
        if (!passed) status = kWrong;
    }
    return status;
}

} // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 2) {
        std::fprintf(stderr, "usage: verify_on_cpu OUT/NAME\n");
        return 2;
    }
    return verify(arguments[1]);
}
