// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[128];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += x[blockIdx.x * kColumns + i];
  float* wide = shared;
  wide[threadIdx.x * 512] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 256; ++i) all += wide[i * 512];
    y[blockIdx.x] = all;
  }
}
