// SPDX-License-Identifier: Apache-2.0
// A grid-stride loop without anything else between blocks; the compiler unrolls it.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i] * 2.0f;
  }
}
