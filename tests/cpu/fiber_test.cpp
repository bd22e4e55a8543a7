#include "tests/cpu/cuda_on_cpu.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

__global__ void block_sum(const int* in, int* out) {
    __shared__ int of_warp[32];
    int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int mask = 16; mask > 0; mask /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    // Only the first warp shuffles here, while the others wait at the barrier below.
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        for (unsigned int delta = 16; delta > 0; delta /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, delta);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
    __syncthreads();
}

__global__ void uneven_barrier(int*) {
    if (threadIdx.x == 0) return;
    if (threadIdx.x == 1)
        __syncwarp();
    else
        __syncthreads();
}

} // namespace

TEST(CudaOnCpu, BarriersAndShufflesOrderTheThreadsOfABlock) {
    std::vector<int> in(3 * 256);
    std::iota(in.begin(), in.end(), 0);
    std::vector<int> out(3, 0);
    cuda_on_cpu::launch(3, 256, cuda_on_cpu::Threads::Fibers, [&] { block_sum(in.data(), out.data()); });
    for (int block = 0; block < 3; ++block)
        EXPECT_EQ(out[static_cast<std::size_t>(block)], 256 * (256 * block) + 255 * 256 / 2);
}

TEST(CudaOnCpu, ABarrierThatNotAllThreadsReachIsADeadlock) {
    EXPECT_DEATH(cuda_on_cpu::launch(1, 64, cuda_on_cpu::Threads::Fibers, [] { uneven_barrier(nullptr); }),
                 "deadlock");
}

TEST(CudaOnCpu, ABarrierWithoutFibersIsRefused) {
    EXPECT_DEATH(cuda_on_cpu::launch(1, 64, cuda_on_cpu::Threads::PlainLoop, [] { __syncthreads(); }),
                 "without fibers");
}

TEST(CudaOnCpu, Float16ConversionsRoundTiesToEven) {
    EXPECT_EQ(float_to_float16_bits(1.0f + 1.0f / 2048), 0x3c00);
    EXPECT_EQ(float_to_float16_bits(1.0f + 3.0f / 2048), 0x3c02);
    EXPECT_EQ(float_to_float16_bits(65519.0f), 0x7bff);
    EXPECT_EQ(float_to_float16_bits(65520.0f), 0x7c00);
    EXPECT_EQ(float_to_float16_bits(-5.9604645e-08f), 0x8001);
    for (unsigned int bits = 0; bits < 0x7c00; ++bits)
        ASSERT_EQ(float_to_float16_bits(float16_bits_to_float(static_cast<unsigned short>(bits))), bits);
}
