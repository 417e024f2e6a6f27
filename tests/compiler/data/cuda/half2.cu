// SPDX-License-Identifier: Apache-2.0
// Two half-precision numbers in one instruction.
#include <cuda_fp16.h>

extern "C" __global__ void kernel(const __half2* __restrict__ in, __half2* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = __hfma2(in[i], in[i], in[i]);
  }
}
