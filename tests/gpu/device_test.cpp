// Needs a GPU; skipped with the reason where there is none.
#include "fusers/jit/kernel_cache.hpp"
#include "fusers/jit/loaded_kernel.hpp"
#include "src/gpu/context.hpp"
#include "src/gpu/copy_bandwidth.hpp"
#include "src/gpu/grid_barrier.hpp"
#include "src/gpu/launch_costs.hpp"
#include "src/gpu/stream.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace deepjit::gpu {
namespace {

using ::testing::HasSubstr;

class DeviceTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const auto driver = Driver::instance(); !driver)
            GTEST_SKIP() << driver.error().message << ": " << driver.error().evidence;
        auto retained = Context::retain_primary();
        ASSERT_TRUE(retained) << retained.error().message;
        context_.emplace(*std::move(retained));
    }

    jit::CompiledKernel compile(const std::string& source) {
        jit::KernelCache cache{{}};
        const auto answer =
            cache.compile({.name = "test",
                           .source = source,
                           .architecture = *jit::parse_architecture(context_->device().architecture())});
        EXPECT_TRUE(answer) << answer.error().evidence;
        return *answer->kernel;
    }

    std::optional<Context> context_;
};

constexpr const char* kTwice = R"(extern "C" __global__ void twice(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
})";

TEST_F(DeviceTest, RunsACompiledKernelInAStreamAndInAGraph) {
    const jit::CompiledKernel compiled = compile(kTwice);
    auto loaded = jit::LoadedKernel::load(*context_, compiled);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto entry = loaded->entry("twice");
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->facts()->registers_per_thread, compiled.entries[0].registers_per_thread);
    EXPECT_GT(*entry->max_blocks_per_multiprocessor(128), 0);

    std::vector<float> values(1000);
    std::iota(values.begin(), values.end(), 0.0F);
    auto buffer = DeviceBuffer::allocate(values.size() * sizeof(float));
    ASSERT_TRUE(buffer);
    ASSERT_TRUE(buffer->upload(std::as_bytes(std::span(values))));
    auto stream = Stream::create();
    ASSERT_TRUE(stream);
    std::uint64_t address = buffer->address();
    int count = static_cast<int>(values.size());
    std::array<void*, 2> arguments = {&address, &count};
    const LaunchConfig config{.grid = {8, 1, 1}, .block = {128, 1, 1}};
    ASSERT_TRUE(launch(*entry, config, *stream, arguments.data()));
    ASSERT_TRUE(stream->begin_capture());
    ASSERT_TRUE(launch(*entry, config, *stream, arguments.data()));
    ASSERT_TRUE(launch(*entry, config, *stream, arguments.data()));
    auto graph = stream->end_capture();
    ASSERT_TRUE(graph) << graph.error().evidence;
    EXPECT_EQ(graph->node_count(), 2U);
    auto before = Event::create();
    auto after = Event::create();
    ASSERT_TRUE(before->record(*stream));
    ASSERT_TRUE(graph->launch(*stream));
    ASSERT_TRUE(after->record(*stream));
    ASSERT_TRUE(stream->synchronize());
    EXPECT_GT(*after->nanoseconds_since(*before), 0);
    ASSERT_TRUE(buffer->download(std::as_writable_bytes(std::span(values))));
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(values[i], 8.0F * static_cast<float>(i));
}

TEST_F(DeviceTest, NamesTheEntriesWhenAskedForAnother) {
    auto loaded = jit::LoadedKernel::load(*context_, compile(kTwice));
    ASSERT_TRUE(loaded);
    const auto entry = loaded->entry("thrice");
    ASSERT_FALSE(entry);
    EXPECT_THAT(entry.error().message, HasSubstr("thrice"));
    EXPECT_THAT(entry.error().hint, HasSubstr("twice"));
}

TEST_F(DeviceTest, RefusesCodeForAnotherArchitecture) {
    jit::CompiledKernel compiled = compile(kTwice);
    compiled.architecture.capability = context_->device().compute_major == 7 ? 80 : 75;
    const auto loaded = jit::LoadedKernel::load(*context_, compiled);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().evidence, HasSubstr(context_->device().architecture()));
}

TEST_F(DeviceTest, RefusesDamagedDeviceCode) {
    EXPECT_FALSE(Module::load("this is no device code"));
}

TEST_F(DeviceTest, RefusesACopyBeyondABuffer) {
    auto buffer = DeviceBuffer::allocate(16);
    ASSERT_TRUE(buffer);
    std::array<std::byte, 32> bytes{};
    EXPECT_FALSE(buffer->upload(bytes));
    EXPECT_FALSE(buffer->download(std::span(bytes).first(8), 12));
    EXPECT_TRUE(buffer->download(std::span(bytes).first(8), 8));
}

TEST_F(DeviceTest, CalibrationGivesPlausibleCosts) {
    const auto costs =
        measure_launch_costs(0, {.launches = 100, .rounds = 5, .warm_up_launches = 0, .with_graphs = true});
    ASSERT_TRUE(costs) << costs.error().message;
    ASSERT_TRUE(costs->stream_launch_ns && costs->graph_node_ns && costs->graph_intercept_ns);
    EXPECT_GT(costs->stream_launch_ns->typical, 500);
    EXPECT_LT(costs->stream_launch_ns->typical, 100'000);
    EXPECT_GT(costs->graph_node_ns->typical, 100);
    EXPECT_LT(costs->graph_node_ns->typical, costs->stream_launch_ns->typical);
}

TEST_F(DeviceTest, CopiesWithinL2AreFasterThanThoseFromMemory) {
    const auto copies = measure_copies(0);
    ASSERT_TRUE(copies) << copies.error().message;
    ASSERT_GE(copies->size(), 2u);
    const CopyBandwidth& largest = copies->back();
    ASSERT_GT(largest.footprint_bytes, 2 * context_->device().l2_bytes);
    EXPECT_GT(largest.bytes_per_second.typical, 5e10); // a tenth of the slowest supported device's memory
    double best_in_l2 = 0;
    for (const CopyBandwidth& copy : *copies)
        if (copy.footprint_bytes <= context_->device().l2_bytes / 2)
            best_in_l2 = std::max(best_in_l2, copy.bytes_per_second.typical);
    EXPECT_GT(best_in_l2, largest.bytes_per_second.typical);
}

TEST_F(DeviceTest, ABarrierOfMoreBlocksTakesLonger) {
    const auto barriers = measure_grid_barriers(0);
    ASSERT_TRUE(barriers) << barriers.error().message;
    ASSERT_GE(barriers->size(), 3u);
    EXPECT_GT(barriers->front().barrier_ns.typical, 50);
    EXPECT_GT(barriers->back().barrier_ns.typical, barriers->front().barrier_ns.typical);
    EXPECT_LT(barriers->back().barrier_ns.typical, 100'000);
}

} // namespace
} // namespace deepjit::gpu
