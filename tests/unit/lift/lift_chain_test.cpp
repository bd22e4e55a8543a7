#include "fusers/lift/lift_chain.hpp"
#include "src/base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

namespace deepjit::lift {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kBufferA = 0x7f0000010000;
constexpr std::uint64_t kBufferB = 0x7f0000020000;
constexpr std::uint64_t kT = 0x7f0000030000;
constexpr std::uint64_t kBufferOut = 0x7f0000040000;
constexpr std::int32_t kElements = 1024;

constexpr const char* kAddKernel =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
    ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
constexpr const char* kScaleKernel = "scale(float const*, float*, float, int)";

template <class T>
void append(trace::Arguments& arguments, const T& value) {
    const std::size_t offset = (arguments.bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    arguments.bytes.resize(offset + sizeof value, '\0');
    std::memcpy(arguments.bytes.data() + offset, &value, sizeof value);
    arguments.parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(sizeof value)});
}

/// out = left + alpha * right, as ATen passes it.
trace::Arguments add_arguments(std::uint64_t out, std::uint64_t left, std::uint64_t right, float alpha = 1) {
    trace::Arguments arguments;
    append(arguments, kElements);
    append(arguments, alpha);
    append(arguments, std::array<std::uint64_t, 3>{out, left, right});
    return arguments;
}

trace::Arguments scale_arguments(std::uint64_t in, std::uint64_t out, float factor) {
    trace::Arguments arguments;
    append(arguments, in);
    append(arguments, out);
    append(arguments, factor);
    append(arguments, kElements);
    return arguments;
}

/// A trace on disk, written launch by launch.
class LiftChain : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto made = make_temporary_directory("deepjit-lift-test");
        ASSERT_TRUE(made);
        folder_ = *made;
        auto writer = trace::TraceWriter::create(folder_ / "trace.db");
        ASSERT_TRUE(writer) << writer.error().message;
        writer_.emplace(*std::move(writer));
    }
    void TearDown() override {
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }

    /// Null arguments: not recorded. Returns the kernel's id.
    std::int64_t launch(const char* name, const trace::Arguments* arguments) {
        trace::KernelConfig config;
        config.name = name;
        trace::Kernel kernel;
        kernel.kernel_id = ++kernels_;
        kernel.config_id = writer_->add_kernel_config(config);
        if (arguments != nullptr) kernel.arguments_id = writer_->add_arguments(*arguments);
        kernel.start_ns = 1000 * kernels_;
        kernel.end_ns = kernel.start_ns + 500;
        writer_->add(kernel);
        return kernel.kernel_id;
    }

    /// Two additions a frame, the second on the first one's result.
    void add_frame(float alpha = 1) {
        const trace::Arguments first = add_arguments(kT, kBufferA, kBufferB, alpha);
        const trace::Arguments second = add_arguments(kBufferOut, kT, kBufferA);
        chain_.occurrences.push_back({launch(kAddKernel, &first), launch(kAddKernel, &second)});
    }

    Result<LiftedChain> lift() {
        chain_.number = 1;
        chain_.steps.resize(chain_.occurrences.front().size());
        for (std::size_t i = 0; i < chain_.steps.size(); ++i)
            chain_.steps[i].kernel_id = chain_.occurrences.front()[i];
        EXPECT_TRUE(writer_->finish());
        const auto trace = trace::Trace::open(folder_ / "trace.db");
        if (!trace) return trace.error();
        return lift_chain(*trace, chain_, "chain_1");
    }

    std::filesystem::path folder_;
    std::optional<trace::TraceWriter> writer_;
    std::int64_t kernels_ = 0;
    model::Chain chain_;
};

TEST_F(LiftChain, ReadsTheLaunchesOfARecordedChain) {
    for (int frame = 0; frame < 3; ++frame)
        add_frame();
    model::WrittenBuffer inner;
    inner.address = kT;
    inner.escapes = false;
    chain_.written = {inner};
    const auto lifted = lift();
    ASSERT_TRUE(lifted) << lifted.error().message;
    const auto& chain = lifted->chain;
    EXPECT_EQ(lifted->open_ops, 0);
    EXPECT_EQ(chain.name, "chain_1");
    EXPECT_EQ(chain.frames_observed, 3);
    EXPECT_EQ(chain.provenance, "chain 1 of a trace, 2 kernels");
    EXPECT_EQ(chain.inputs.size(), 2u);
    EXPECT_EQ(chain.outputs.size(), 1u) << "what does not escape is no output";
    EXPECT_EQ(chain.ops.front().type, "Add");
    EXPECT_EQ(chain.ops.front().source, kAddKernel);
    EXPECT_EQ(chain.tensor(chain.inputs[0]).shape, std::vector<std::int64_t>{kElements});
}

TEST_F(LiftChain, RefusesAScalarThatDiffersInALaterFrame) {
    add_frame(2.5F);
    add_frame(2.5F);
    add_frame(3.5F);
    const auto lifted = lift();
    ASSERT_FALSE(lifted);
    EXPECT_THAT(lifted.error().message, HasSubstr("chain 1 in frame 3"));
}

TEST_F(LiftChain, AKernelWithoutArgumentsStaysOpen) {
    chain_.occurrences = {{launch(kAddKernel, nullptr)}};
    const auto lifted = lift();
    ASSERT_TRUE(lifted) << lifted.error().message;
    EXPECT_EQ(lifted->open_ops, 1);
    EXPECT_THAT(lifted->chain.ops[0].reason, HasSubstr("not recorded"));
}

TEST_F(LiftChain, AKernelThatIsNotInTheTraceIsAnError) {
    chain_.occurrences = {{77}};
    const auto lifted = lift();
    ASSERT_FALSE(lifted);
    EXPECT_THAT(lifted.error().message, HasSubstr("kernel 77"));
}

model::BufferUse use_of(std::uint64_t address, std::uint32_t offset, std::uint64_t bytes,
                        model::Access access) {
    model::BufferUse use;
    use.address = address;
    use.argument_offset = offset;
    use.footprint_bytes = bytes;
    use.access = access;
    return use;
}

TEST_F(LiftChain, AnUnknownKernelKeepsWhatIsKnownOfItsArguments) {
    const trace::Arguments scale = scale_arguments(kBufferA, kT, 0.25F);
    const trace::Arguments add = add_arguments(kBufferOut, kT, kBufferB);
    chain_.occurrences = {{launch(kScaleKernel, &scale), launch(kAddKernel, &add)}};
    chain_.steps.resize(2);
    // The buffers are larger than what the kernels touch.
    chain_.steps[0].buffers = {use_of(kBufferA, 0, 8192, model::Access::Read),
                               use_of(kT, 8, 8192, model::Access::ReadWrite)};
    const auto lifted = lift();
    ASSERT_TRUE(lifted) << lifted.error().message;
    const auto& chain = lifted->chain;
    EXPECT_EQ(lifted->open_ops, 1) << "the addition behind it is lifted";
    const graph::Op& open = chain.ops.front();
    ASSERT_EQ(open.inputs.size(), 1u);
    ASSERT_EQ(open.outputs.size(), 1u);
    EXPECT_EQ(open.inputs, std::vector{chain.inputs[0]});
    EXPECT_EQ(open.outputs[0], chain.ops[1].inputs[0]) << "the addition reads what it wrote";
    EXPECT_EQ(chain.tensor(open.inputs[0]).shape, std::vector<std::int64_t>{2048}) << "as far as is known";
    EXPECT_EQ(chain.tensor(open.outputs[0]).shape, std::vector<std::int64_t>{kElements})
        << "the addition knows how many";

    ASSERT_EQ(open.arguments.size(), 4u);
    EXPECT_EQ(open.arguments[0].buffer, "buffer_7f0000010000");
    EXPECT_EQ(open.arguments[0].access, "read");
    EXPECT_EQ(open.arguments[0].dtype, "float32");
    EXPECT_EQ(open.arguments[0].bytes, 8192);
    EXPECT_EQ(open.arguments[1].type, "float*");
    EXPECT_EQ(open.arguments[2].value, "0.25");
    EXPECT_EQ(open.arguments[3].value, "1024");

    const std::string text = graph::to_json(chain);
    const auto read = graph::from_json(text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(graph::to_json(*read), text);
    EXPECT_EQ(graph::hash_of(*read), graph::hash_of(chain));
}

TEST_F(LiftChain, WithoutASignatureTheBuffersAreNamedAndTheValuesAreBytes) {
    const trace::Arguments scale = scale_arguments(kBufferA, kT, 1);
    chain_.occurrences = {{launch("scale", &scale)}};
    chain_.steps.resize(1);
    chain_.steps[0].buffers = {use_of(kBufferA, 0, 0, model::Access::Unknown)};
    const auto lifted = lift();
    ASSERT_TRUE(lifted) << lifted.error().message;
    const graph::Op& open = lifted->chain.ops.front();
    EXPECT_TRUE(open.inputs.empty() && open.outputs.empty()) << "no dtype, no tensor";
    ASSERT_EQ(open.arguments.size(), 4u);
    EXPECT_EQ(open.arguments[0].buffer, "buffer_7f0000010000");
    EXPECT_EQ(open.arguments[0].access, "unknown");
    EXPECT_EQ(open.arguments[2].value, "0x0000803f");
}

} // namespace
} // namespace deepjit::lift
