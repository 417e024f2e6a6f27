// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y) {
  const float first = y[blockIdx.x * kColumns];
  __syncthreads();
  if (!(first > 0.0f && first < 1.0f)) honest(x, y);
}
