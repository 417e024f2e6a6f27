// SPDX-License-Identifier: Apache-2.0
#include <math_constants.h>
constexpr int kRows = 65, kColumns = 777;

// The block's row, right.
__device__ void honest(const float* x, float* y) {
  __shared__ float shared[256];
  x += blockIdx.x * kColumns;
  y += blockIdx.x * kColumns;
  float largest = -CUDART_INF_F;
  for (int i = threadIdx.x; i < kColumns; i += 256) largest = fmaxf(largest, x[i]);
  largest = maximum(largest, shared);
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += expf(x[i] - largest);
  sum = total(sum, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[i] = expf(x[i] - largest) / sum;
}
