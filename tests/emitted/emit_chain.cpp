// emit_chain CASE DIR: emits a chain of the tests as `deepjit fuse` would on a machine without a GPU.
#include "fusers/codegen/generated_kernel.hpp"
#include "fusers/emit/emission.hpp"
#include "fusers/verify/tuning.hpp"
#include "tests/support/chain_builder.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace deepjit;

[[noreturn]] void stop(const Diagnostic& error) {
    std::fprintf(stderr, "%s\n%s\n", error.message.c_str(), error.evidence.c_str());
    std::exit(error.kind == ErrorKind::Environment ? 4 : 1);
}

template <class T>
T value_or_stop(Result<T> result) {
    if (!result) stop(result.error());
    return *std::move(result);
}

/// Two inputs of one operand's types, two outputs, and names that are words of C++ and Python.
graph::ChainGraph odd_names() {
    testing::ChainBuilder builder("lambda", {3, 11});
    const auto from = builder.input("from", graph::DType::Float16);
    const auto stream = builder.input("stream", graph::DType::BFloat16);
    const auto sum = builder.round(builder.op("Add", {from, stream}), graph::DType::Float32, "sum");
    builder.output(builder.round(builder.op("Relu", {sum}), graph::DType::Float16), "int");
    builder.output(sum, "class");
    return builder.chain();
}

/// More operands than fit in a line.
graph::ChainGraph wide() {
    testing::ChainBuilder builder("wide", {4099});
    auto sum = builder.input("long_name_of_an_input_0");
    for (int i = 1; i < 9; ++i)
        sum = builder.round(
            builder.op("Add", {sum, builder.input("long_name_of_an_input_" + std::to_string(i))}));
    builder.output(sum, "the_sum_of_all_of_them");
    return builder.chain();
}

graph::ChainGraph chain_of(std::string_view name) {
    if (name == "float32") return testing::add_relu_scale_add("add_relu", 1000);
    if (name == "float16") return testing::add_relu_scale_add("add_relu", 1000, graph::DType::Float16);
    if (name == "bfloat16") return testing::add_relu_scale_add("add_relu", 1001, graph::DType::BFloat16);
    if (name == "odd_names") return odd_names();
    if (name == "wide") return wide();
    std::fprintf(stderr, "no such case\n");
    std::exit(2);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    graph::ChainGraph chain = chain_of(argv[1]);
    emit::Emission emission;
    emission.name = emit::emitted_name(chain.name);
    chain.name = emission.name;
    emission.chain = chain;

    jit::KernelCache cache{std::filesystem::path()};
    std::vector<verify::Experiment> experiments;
    auto tuned =
        value_or_stop(verify::compile_only(chain, {90, {}, false}, cache, "this is a test", experiments));
    emission.kernel = std::move(tuned.chosen.kernel);
    emission.images = {{90, tuned.chosen.compiled.image}};
    emission.ptx_capability = 90;
    emission.ptx =
        value_or_stop(cache.compile(verify::compile_request(emission.kernel, {90, {}, true}))).kernel->image;
    emission.verification = std::move(tuned.verification);
    emission.benchmark = std::move(tuned.benchmark);
    value_or_stop(
        emit::write_emitted_folder(argv[2], emission.name, value_or_stop(emit::emitted_files(emission))));
    return 0;
}
