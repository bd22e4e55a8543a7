#include "src/gpu/launch_probe.hpp"

#include <chrono>
#include <utility>

namespace deepjit::gpu {
namespace {

/// The oldest target that deepjit supports; every newer driver compiles it for its device.
constexpr const char* kProbePtx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry deepjit_launch_probe(
    .param .u64 out,
    .param .u64 left,
    .param .u64 right,
    .param .u32 count,
    .param .f32 scale
)
{
    ret;
}
)";

constexpr std::size_t kBufferBytes = 4096;

} // namespace

LaunchProbe::LaunchProbe(Context context, Module module, Function function, Stream stream)
    : context_(std::move(context)), module_(std::move(module)), function_(function),
      stream_(std::move(stream)) {}

Result<LaunchProbe> LaunchProbe::create(int device_index) {
    DEEPJIT_TRY(Context context, Context::retain_primary(device_index));
    DEEPJIT_TRY(Module module, Module::load(kProbePtx));
    DEEPJIT_TRY(const Function function, module.function("deepjit_launch_probe"));
    DEEPJIT_TRY(Stream stream, Stream::create());
    LaunchProbe probe(std::move(context), std::move(module), function, std::move(stream));
    for (DeviceBuffer& buffer : probe.buffers_) {
        DEEPJIT_TRY(buffer, DeviceBuffer::allocate(kBufferBytes));
    }
    DEEPJIT_TRY([[maybe_unused]] const double warm_up_ns, probe.burst_ns(1));
    return probe;
}

Result<void> LaunchProbe::launch_all(int launches) {
    std::array<std::uint64_t, 3> addresses = {buffers_[0].address(), buffers_[1].address(),
                                              buffers_[2].address()};
    std::uint32_t count = kBufferBytes / sizeof(float);
    float scale = 0.5F;
    const std::array<void*, 5> arguments = {&addresses[0], &addresses[1], &addresses[2], &count, &scale};
    LaunchConfig config;
    config.grid[0] = static_cast<std::uint32_t>(device().multiprocessors);
    config.block[0] = 128;
    for (int i = 0; i < launches; ++i)
        DEEPJIT_CHECK(launch(function_, config, stream_, arguments.data()));
    return {};
}

Result<double> LaunchProbe::burst_ns(int launches) {
    const auto start = std::chrono::steady_clock::now();
    DEEPJIT_CHECK(launch_all(launches));
    DEEPJIT_CHECK(stream_.synchronize());
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

Result<GraphExec> LaunchProbe::capture(int launches) {
    DEEPJIT_CHECK(stream_.begin_capture());
    DEEPJIT_CHECK(launch_all(launches));
    return stream_.end_capture();
}

} // namespace deepjit::gpu
