// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y, const float* scratch) {
  honest(x, y);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] += scratch[blockIdx.x * kColumns + i];
}
