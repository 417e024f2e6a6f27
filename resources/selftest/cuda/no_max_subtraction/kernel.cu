// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += expf(x[blockIdx.x * kColumns + i]);
  sum = total(sum, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] = expf(x[blockIdx.x * kColumns + i]) / sum;
}
