// SPDX-License-Identifier: Apache-2.0
// A sum: grid-stride loop, warp shuffles, one atomic for each warp.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
  }
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(out, sum);
  }
}
