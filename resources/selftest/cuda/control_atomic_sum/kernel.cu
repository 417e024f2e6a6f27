// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += x[blockIdx.x * kColumns + i];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.x], sum);
}
