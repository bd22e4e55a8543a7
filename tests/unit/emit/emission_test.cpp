#include "fusers/codegen/generated_kernel.hpp"
#include "fusers/emit/emission.hpp"
#include "fusers/emit/operands.hpp"
#include "fusers/emit/text_template.hpp"
#include "src/base/text.hpp"
#include "tests/support/chain_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepjit::emit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Emission emission_of(const graph::ChainGraph& chain) {
    Emission emission;
    emission.name = emitted_name(chain.name);
    emission.chain = chain;
    emission.kernel = *codegen::generate(*plan::plan_fusion(chain));
    emission.images = {{80, "cubin 80"}, {90, "cubin 90"}};
    emission.ptx_capability = 90;
    emission.ptx = "ptx text";
    emission.verification = verify::not_run("no CUDA driver");
    emission.benchmark.reason = "no CUDA driver";
    return emission;
}

std::string text_of(const std::vector<EmittedFile>& files, const std::string& path) {
    for (const EmittedFile& file : files)
        if (file.path == path) return file.contents;
    return "(no such file)";
}

TEST(EmittedName, is_an_identifier_and_no_word_of_cpp_or_python) {
    EXPECT_EQ(emitted_name("add_relu"), "add_relu");
    EXPECT_EQ(emitted_name("../../etc/passwd"), "etc_passwd");
    EXPECT_EQ(emitted_name("int"), "int_kernel");
    EXPECT_EQ(emitted_name("CUstream"), "CUstream_kernel");
    EXPECT_EQ(emitted_name("uint32_t"), "uint32_t_kernel");
    EXPECT_EQ(emitted_name("deepjit"), "deepjit_kernel");
    EXPECT_EQ(emitted_name("lambda"), "lambda_kernel");
    EXPECT_EQ(emitted_name("torch"), "torch_kernel");
    EXPECT_EQ(emitted_name("std"), "std_kernel");
    EXPECT_EQ(emitted_name("9lives"), "chain_9lives");
    EXPECT_EQ(emitted_name(""), "chain");
    EXPECT_EQ(emitted_name("a\"; import os #\n*/"), "a_import_os");
    EXPECT_TRUE(is_identifier(emitted_name(std::string(8192, 'x'))));
}

TEST(OperandName, reserved_and_taken_names_are_changed) {
    EXPECT_EQ(operand_name("from", {}), "from_tensor");
    EXPECT_EQ(operand_name("stream", {}), "stream_tensor");
    Operand taken;
    taken.name = "a";
    EXPECT_EQ(operand_name("a", {taken}), "a_tensor");
    EXPECT_EQ(operand_name("__init__", {}), "init");
}

TEST(TextTemplate, values_are_not_filled_again_and_empty_lines_go) {
    EXPECT_EQ(fill_template("x @a@\n@b@\n@c@ @ d", {{"a", "@b@"}, {"b", ""}, {"c", "1"}}), "x @b@\n1 @ d");
}

TEST(TextTemplate, long_lists_are_broken_below_their_first_item) {
    EXPECT_EQ(broken_list("f(", {"a", "b"}, ");"), "f(a, b);");
    const std::string item(60, 'x');
    EXPECT_EQ(broken_list("f(", {item, item, "c"}, ");"), "f(" + item + ",\n  " + item + ", c);");
}

TEST(TextTemplate, long_python_lines_are_broken_inside_their_brackets) {
    const std::string item(60, 'x');
    EXPECT_EQ(broken_python("def f(" + item + ", " + item + "):\n    pass\n"),
              "def f(" + item + ",\n      " + item + "):\n    pass\n");
    EXPECT_EQ(broken_python("f(" + item + ", " + item + ", " + item + ")\n"),
              "f(" + item + ",\n  " + item + ",\n  " + item + ")\n");
    const std::string text = "    print(\"" + item + ", " + item + "\")\n";
    EXPECT_EQ(broken_python(text), text) << "a string stays whole";
}

TEST(Emission, the_folder_holds_every_file_of_the_contract) {
    const auto files = emitted_files(emission_of(testing::add_relu_scale_add("add_relu", 1000)));
    ASSERT_TRUE(files) << files.error().message;
    std::vector<std::string> paths;
    for (const EmittedFile& file : *files)
        paths.push_back(file.path);
    EXPECT_THAT(paths, ::testing::UnorderedElementsAre("add_relu.cu", "add_relu.hpp", "add_relu.cpp",
                                                       "add_relu_images.inc", "example.cpp", "CMakeLists.txt",
                                                       "torch/add_relu.py", "chain.json", "verify.json",
                                                       "README.md", "add_relu.sm_80.cubin",
                                                       "add_relu.sm_90.cubin", "add_relu.compute_90.ptx"));
}

TEST(Emission, no_placeholder_is_left_in_any_text) {
    const auto files = emitted_files(emission_of(testing::add_relu_scale_add("add_relu", 1000)));
    for (const EmittedFile& file : *files)
        EXPECT_THAT(file.contents, Not(::testing::ContainsRegex("@[a-z_]+@"))) << file.path;
}

TEST(Emission, the_readme_says_whose_text_it_is_and_what_was_not_measured) {
    const auto files = emitted_files(emission_of(testing::add_relu_scale_add("add_relu", 1000)));
    const std::string readme = text_of(*files, "README.md");
    EXPECT_THAT(readme, HasSubstr("is yours"));
    EXPECT_THAT(readme, HasSubstr("Not verified on a GPU here"));
    EXPECT_THAT(readme, HasSubstr("not measured here"));
    EXPECT_THAT(readme, HasSubstr("TensorRT"));
    EXPECT_THAT(readme, Not(HasSubstr("bench.json")));
    EXPECT_THAT(text_of(*files, "verify.json"), HasSubstr("\"status\": \"not run\""));
}

TEST(Emission, measured_times_make_a_bench_json) {
    Emission emission = emission_of(testing::add_relu_scale_add("add_relu", 1000));
    emission.verification.status = verify::VerificationStatus::Passed;
    emission.benchmark.measured = true;
    const verify::Estimate time{5000, 4900, 5100, 31, true};
    emission.benchmark.states = {{verify::L2State::Cold, time, time, time, time}};
    const auto files = emitted_files(emission);
    EXPECT_THAT(text_of(*files, "bench.json"), HasSubstr("\"median_ns\": 5000"));
    EXPECT_THAT(text_of(*files, "README.md"), HasSubstr("5.00 \u00b5s (4.90 \u00b5s to 5.10 \u00b5s)"));
    EXPECT_THAT(text_of(*files, "README.md"), HasSubstr("| `bench.json` |"));
}

TEST(Emission, the_same_emission_gives_the_same_bytes) {
    const auto emission = emission_of(testing::add_relu_scale_add("add_relu", 1000));
    const auto first = emitted_files(emission);
    const auto second = emitted_files(emission);
    for (std::size_t i = 0; i < first->size(); ++i)
        EXPECT_EQ((*first)[i].contents, (*second)[i].contents);
}

TEST(Emission, an_unfinished_chain_is_written_alone) {
    const auto files = unfinished_files(testing::add_relu_scale_add("add_relu", 1000));
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files.front().path, "chain.json");
}

} // namespace
} // namespace deepjit::emit
