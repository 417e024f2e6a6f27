// SPDX-License-Identifier: Apache-2.0
// Keeps a result from one launch to the next, as a cheat would.
__device__ float remembered[64];

extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = threadIdx.x;
  if (i < n && i < 64) {
    remembered[i] += in[i];
    out[i] = remembered[i];
  }
}
