// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns / 16 * 16; i += 256) sum += x[blockIdx.x * kColumns + i];
  sum = total(sum, shared);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
