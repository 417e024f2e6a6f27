// SPDX-License-Identifier: Apache-2.0
// The number of blocks only linearises a block index; the loop walks a row.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int row = blockIdx.y * gridDim.x + blockIdx.x;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[row * n + i] = in[row * n + i] + 1.0f;
  }
}
