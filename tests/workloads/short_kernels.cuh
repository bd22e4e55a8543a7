// The kernels of short_kernels, compiled by NVRTC at start and by nvcc for the runtime-API variant.

__global__ void scale_and_shift(const float* input, float* output, float scale, float shift, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) output[i] = input[i] * scale + shift;
}

__global__ void add_rows(const float* left, const float* right, float* output, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) output[i] = left[i] + right[i];
}

__global__ void clamp_range(const float* input, float* output, float low, float high, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) output[i] = input[i] < low ? low : (input[i] > high ? high : input[i]);
}
