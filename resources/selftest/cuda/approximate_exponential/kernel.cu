// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += 1.0f + x[blockIdx.x * kColumns + i] * (1.0f + 0.5f * x[blockIdx.x * kColumns + i]);
  sum = total(sum, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) {
    const float v = x[blockIdx.x * kColumns + i];
    y[blockIdx.x * kColumns + i] = (1.0f + v + 0.5f * v * v) / sum;
  }
}
