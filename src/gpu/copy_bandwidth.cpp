#include "src/gpu/copy_bandwidth.hpp"

#include "src/gpu/context.hpp"
#include "src/gpu/stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace deepjit::gpu {
namespace {

constexpr const char* kCopyPtx = R"(.version 6.3
.target sm_75
.address_size 64
// Each pass copies `vectors` times 16 bytes.
.visible .entry deepjit_copy_probe(
    .param .u64 out,
    .param .u64 in,
    .param .u32 vectors,
    .param .u32 passes
)
{
    .reg .pred %more;
    .reg .b32 %first, %stride, %vectors, %passes, %pass, %i, %t, %n, %a, %b, %c, %d;
    .reg .b64 %out, %in, %offset, %from, %to;

    ld.param.u64 %out, [out];
    ld.param.u64 %in, [in];
    ld.param.u32 %vectors, [vectors];
    ld.param.u32 %passes, [passes];
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %in, %in;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mov.u32 %first, %ctaid.x;
    mad.lo.u32 %first, %first, %n, %t;
    mov.u32 %stride, %nctaid.x;
    mul.lo.u32 %stride, %stride, %n;
    mov.u32 %pass, 0;
next_pass:
    setp.ge.u32 %more, %pass, %passes;
    @%more ret;
    add.u32 %pass, %pass, 1;
    mov.u32 %i, %first;
next_vector:
    setp.ge.u32 %more, %i, %vectors;
    @%more bra next_pass;
    mul.wide.u32 %offset, %i, 16;
    add.u64 %from, %in, %offset;
    add.u64 %to, %out, %offset;
    ld.global.v4.u32 {%a, %b, %c, %d}, [%from];
    st.global.v4.u32 [%to], {%a, %b, %c, %d};
    add.u32 %i, %i, %stride;
    bra next_vector;
}
)";

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;
constexpr std::array kFootprints = {1 * kMiB,  4 * kMiB,   16 * kMiB,  32 * kMiB,  48 * kMiB,
                                    64 * kMiB, 128 * kMiB, 256 * kMiB, 1024 * kMiB};
constexpr std::int64_t kVectorBytes = 16;
/// In one launch: some 0.2 ms at the speed of an H200's L2.
constexpr std::int64_t kMovedBytes = 1024 * kMiB;
constexpr int kRounds = 7;
constexpr std::uint32_t kBlockThreads = 256;
constexpr std::uint32_t kBlocksPerMultiprocessor = 8; // all the threads that one can hold

struct CopyProbe {
    const Stream& stream;
    Function function;
    std::uint32_t blocks = 0;

    /// Device time of one launch.
    Result<double> run_ns(const DeviceBuffer& out, const DeviceBuffer& in, std::int64_t passes) const {
        std::array<std::uint64_t, 2> addresses = {out.address(), in.address()};
        auto vectors = static_cast<std::uint32_t>(static_cast<std::int64_t>(in.bytes()) / kVectorBytes);
        auto count = static_cast<std::uint32_t>(passes);
        const std::array<void*, 4> arguments = {&addresses[0], &addresses[1], &vectors, &count};
        LaunchConfig config;
        config.grid[0] = blocks;
        config.block[0] = kBlockThreads;
        return timed_launch_ns(function, config, stream, arguments.data());
    }
};

} // namespace

Result<std::vector<CopyBandwidth>> measure_copies(int device_index) {
    DEEPJIT_TRY(const Context context, Context::retain_primary(device_index));
    DEEPJIT_TRY(const Module module, Module::load(kCopyPtx));
    DEEPJIT_TRY(const Function function, module.function("deepjit_copy_probe"));
    DEEPJIT_TRY(const Stream stream, Stream::create());
    const auto multiprocessors = static_cast<std::uint32_t>(context.device().multiprocessors);
    const CopyProbe probe{stream, function, multiprocessors * kBlocksPerMultiprocessor};
    std::vector<CopyBandwidth> copies;
    for (const std::int64_t footprint : kFootprints) {
        if (footprint > context.device().memory_bytes / 8) break;
        const auto half = static_cast<std::size_t>(footprint / 2);
        auto in = DeviceBuffer::allocate(half);
        auto out = DeviceBuffer::allocate(half);
        if (!in || !out) break;
        DEEPJIT_CHECK(in->fill(1)); // pages that were never written may be read faster
        DEEPJIT_CHECK(out->fill(0));
        DEEPJIT_CHECK(context.synchronize());
        const std::int64_t passes = std::max<std::int64_t>(1, kMovedBytes / footprint);
        std::vector<double> bytes_per_second;
        for (int round = -1; round < kRounds; ++round) {
            DEEPJIT_TRY(const double elapsed_ns, probe.run_ns(*out, *in, passes));
            if (round < 0 || elapsed_ns <= 0) continue; // warm-up
            bytes_per_second.push_back(static_cast<double>(passes * footprint) / elapsed_ns * 1e9);
        }
        if (!bytes_per_second.empty()) copies.push_back({footprint, spread_of(std::move(bytes_per_second))});
    }
    return copies;
}

} // namespace deepjit::gpu
