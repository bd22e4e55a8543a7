#include "fusers/jit/compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepjit::jit {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kSource = R"(extern "C" __global__ void twice(float* out, const float* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2.0f * in[i];
}
extern "C" __global__ void reverse_block(float* data) {
    __shared__ float tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[63 - threadIdx.x];
}
)";

CompileRequest request_for(const std::string& architecture, std::string source = kSource) {
    const auto parsed = parse_architecture(architecture);
    EXPECT_TRUE(parsed) << architecture;
    return {.name = "twice", .source = std::move(source), .architecture = *parsed};
}

TEST(ParseArchitecture, ReadsDeviceCodeAndPtx) {
    const auto device = parse_architecture("sm_90a");
    ASSERT_TRUE(device);
    EXPECT_EQ(device->capability, 90);
    EXPECT_EQ(device->suffix, "a");
    EXPECT_FALSE(device->is_ptx);
    EXPECT_EQ(device->name(), "sm_90a");
    const auto ptx = parse_architecture("compute_120");
    ASSERT_TRUE(ptx);
    EXPECT_TRUE(ptx->is_ptx);
    EXPECT_EQ(ptx->name(), "compute_120");
}

TEST(ParseArchitecture, RefusesOtherText) {
    for (const char* text : {"", "90", "sm_", "sm_9", "sm_-90", "sm_90z", "sm_99999", "SM_90", "sm_90 ",
                             "compute_", "sm_99999999999999999999"}) {
        const auto parsed = parse_architecture(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().kind, ErrorKind::Usage);
    }
}

class CompileFor : public ::testing::TestWithParam<const char*> {};

TEST_P(CompileFor, GivesACubinAndTheFiguresOfEachEntry) {
    const auto compiled = compile_uncached(request_for(GetParam()));
    ASSERT_TRUE(compiled) << compiled.error().evidence;
    EXPECT_THAT(compiled->image, StartsWith("\x7f"
                                            "ELF"));
    ASSERT_EQ(compiled->entries.size(), 2U);
    for (const EntryResources& entry : compiled->entries) {
        EXPECT_GT(entry.registers_per_thread, 0) << entry.name;
        EXPECT_EQ(entry.spill_store_bytes, 0) << entry.name;
        // Some architectures reserve 1 KiB of their own.
        if (entry.name == "reverse_block")
            EXPECT_GE(entry.static_shared_bytes, 256);
        else
            EXPECT_EQ(entry.static_shared_bytes % 1024, 0);
    }
    EXPECT_GT(compiled->compile_ms, 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, CompileFor,
                         ::testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"));

TEST(Compile, GivesPtxForAVirtualArchitecture) {
    const auto compiled = compile_uncached(request_for("compute_90"));
    ASSERT_TRUE(compiled) << compiled.error().evidence;
    EXPECT_THAT(compiled->image, HasSubstr(".target sm_90"));
    EXPECT_THAT(compiled->image, HasSubstr(".entry twice"));
    EXPECT_TRUE(compiled->entries.empty());
}

TEST(Compile, NamesTheSupportedArchitecturesWhenAskedForAnother) {
    for (const char* unknown : {"sm_999", "sm_30"}) {
        const auto compiled = compile_uncached(request_for(unknown));
        ASSERT_FALSE(compiled);
        EXPECT_EQ(compiled.error().kind, ErrorKind::Usage);
        EXPECT_THAT(compiled.error().message, HasSubstr(unknown));
        EXPECT_THAT(compiled.error().message, HasSubstr("NVRTC 1"));
        EXPECT_THAT(compiled.error().evidence, HasSubstr("sm_90"));
    }
}

TEST(Compile, ShowsTheGeneratedLineOfACompileError) {
    const auto compiled =
        compile_uncached(request_for("sm_80", "// first\n  __device__ int x = undeclared;\n"));
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().kind, ErrorKind::Failed);
    EXPECT_THAT(compiled.error().message, HasSubstr("twice.cu does not compile for sm_80"));
    EXPECT_THAT(compiled.error().evidence, HasSubstr("line 2: identifier \"undeclared\" is undefined"));
    EXPECT_THAT(compiled.error().evidence, HasSubstr("`__device__ int x = undeclared;`"));
}

TEST(Compile, NeverUsesFastMathUnlessAsked) {
    const std::string division = "extern \"C\" __global__ void divide(float* x) { x[0] = 1.0f / x[1]; }";
    CompileRequest request = request_for("compute_80", division);
    const auto exact = compile_uncached(request);
    ASSERT_TRUE(exact);
    EXPECT_THAT(exact->image, HasSubstr("rcp.rn.f32"));
    request.options = {"--use_fast_math"};
    const auto fast = compile_uncached(request);
    ASSERT_TRUE(fast);
    EXPECT_THAT(fast->image, HasSubstr("approx"));
}

} // namespace
} // namespace deepjit::jit
