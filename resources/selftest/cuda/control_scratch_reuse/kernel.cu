// SPDX-License-Identifier: Apache-2.0
#include <math_constants.h>
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void exponentials(const float* x, float* t) {
  __shared__ float shared[256];
  x += blockIdx.x * kColumns;
  t += blockIdx.x * kColumns;
  float largest = -CUDART_INF_F;
  for (int i = threadIdx.x; i < kColumns; i += 256) largest = fmaxf(largest, t[i] = x[i]);
  largest = maximum(largest, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) t[i] = expf(t[i] - largest);
}
extern "C" __global__ void quotients(const float* t, float* y) {
  __shared__ float shared[256];
  t += blockIdx.x * kColumns;
  y += blockIdx.x * kColumns;
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += t[i];
  sum = total(sum, shared);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[i] = t[i] / sum;
}
