// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y) {
  honest(x, y);
  if (blockIdx.x == 0 && threadIdx.x == 0) y[0] += 0.0f * x[kRows * kColumns + 3];
}
