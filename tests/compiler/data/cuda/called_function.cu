// SPDX-License-Identifier: Apache-2.0
// What a kernel calls counts as part of it.
__device__ __noinline__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
  }
  return value;
}

extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out) {
  out[threadIdx.x] = warpSum(in[threadIdx.x]) + warpSum(in[threadIdx.x + 32]);
}
