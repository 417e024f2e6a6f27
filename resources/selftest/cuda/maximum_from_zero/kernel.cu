// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  x += blockIdx.x * kColumns;
  y += blockIdx.x * kColumns;
  float most = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) most = fmaxf(most, x[i]);
  most = maximum(most, shared);
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += expf(x[i] - most);
  sum = total(sum, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[i] = expf(x[i] - most) / sum;
}
