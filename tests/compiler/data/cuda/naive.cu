// SPDX-License-Identifier: Apache-2.0
// One element for each thread.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * 2.0f + 1.0f;
  }
}
