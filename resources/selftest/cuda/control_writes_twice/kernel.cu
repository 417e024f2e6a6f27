// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y) {
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] = -1.0f;
  __syncthreads();
  honest(x, y);
}
