#include "src/gpu/grid_barrier.hpp"

#include "src/gpu/context.hpp"
#include "src/gpu/stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace deepjit::gpu {
namespace {

constexpr const char* kBarrierPtx = R"(.version 6.3
.target sm_75
.address_size 64
// `arrived` is 0 before the launch, and counts the arrivals at all barriers.
.visible .entry deepjit_barrier_probe(
    .param .u64 arrived,
    .param .u32 barriers
)
{
    .reg .pred %is_first, %done;
    .reg .b32 %barriers, %barrier, %blocks, %thread, %expected, %seen;
    .reg .b64 %arrived;

    ld.param.u64 %arrived, [arrived];
    ld.param.u32 %barriers, [barriers];
    cvta.to.global.u64 %arrived, %arrived;
    mov.u32 %thread, %tid.x;
    mov.u32 %blocks, %nctaid.x;
    setp.eq.u32 %is_first, %thread, 0;
    mov.u32 %barrier, 0;
    mov.u32 %expected, 0;
next_barrier:
    setp.ge.u32 %done, %barrier, %barriers;
    @%done ret;
    add.u32 %barrier, %barrier, 1;
    add.u32 %expected, %expected, %blocks;
    bar.sync 0;
    @!%is_first bra wait_for_first;
    red.release.gpu.global.add.u32 [%arrived], 1;
wait_for_all:
    ld.acquire.gpu.global.u32 %seen, [%arrived];
    setp.lt.u32 %done, %seen, %expected;
    @%done bra wait_for_all;
wait_for_first:
    bar.sync 0;
    bra next_barrier;
}
)";

constexpr std::uint32_t kFewBarriers = 100;
constexpr std::uint32_t kManyBarriers = 300;
constexpr int kRounds = 9;
constexpr std::uint32_t kBlockThreads = 256;
constexpr std::size_t kCounterBytes = 4;

/// Device time of one launch.
Result<double> run_ns(const Context& context, const Function& function, const Stream& stream,
                      DeviceBuffer& counter, int blocks, std::uint32_t barriers) {
    DEEPJIT_CHECK(counter.fill(0));
    DEEPJIT_CHECK(
        context.synchronize()); // the fill is the default stream's, which `stream` does not wait for
    std::uint64_t address = counter.address();
    const std::array<void*, 2> arguments = {&address, &barriers};
    LaunchConfig config;
    config.grid[0] = static_cast<std::uint32_t>(blocks);
    config.block[0] = kBlockThreads;
    config.cooperative = true; // else the blocks need not be there at the same time
    return timed_launch_ns(function, config, stream, arguments.data());
}

} // namespace

Result<std::vector<GridBarrier>> measure_grid_barriers(int device_index) {
    DEEPJIT_TRY(const Context context, Context::retain_primary(device_index));
    DEEPJIT_TRY(const Module module, Module::load(kBarrierPtx));
    DEEPJIT_TRY(const Function function, module.function("deepjit_barrier_probe"));
    DEEPJIT_TRY(const Stream stream, Stream::create());
    DEEPJIT_TRY(DeviceBuffer counter, DeviceBuffer::allocate(kCounterBytes));
    const int multiprocessors = std::max(context.device().multiprocessors, 1);
    // 1,024 threads a multiprocessor, which every device since sm_75 holds.
    const int most = multiprocessors * 4;
    std::vector<GridBarrier> measured;
    for (const int blocks : {1, 8, 32, multiprocessors / 2, multiprocessors, multiprocessors * 2, most}) {
        if (blocks < 1 || (!measured.empty() && blocks <= measured.back().blocks)) continue;
        std::vector<double> barrier_ns;
        for (int round = -1; round < kRounds; ++round) {
            DEEPJIT_TRY(const double few_ns,
                        run_ns(context, function, stream, counter, blocks, kFewBarriers));
            DEEPJIT_TRY(const double many_ns,
                        run_ns(context, function, stream, counter, blocks, kManyBarriers));
            if (round < 0) continue; // warm-up
            barrier_ns.push_back(std::max(0.0, many_ns - few_ns) / (kManyBarriers - kFewBarriers));
        }
        measured.push_back({blocks, spread_of(std::move(barrier_ns))});
    }
    return measured;
}

} // namespace deepjit::gpu
