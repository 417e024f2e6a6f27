// SPDX-License-Identifier: Apache-2.0
// Unrolled by hand, not vectorised: the compiler cannot know the alignment.
// float4 flash prefetch Welford cp.async mma.sync: words in comments move no cell.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
    out[i] = in[i] * 2.0f;
    out[i + 1] = in[i + 1] * 2.0f;
    out[i + 2] = in[i + 2] * 2.0f;
    out[i + 3] = in[i + 3] * 2.0f;
  }
}
