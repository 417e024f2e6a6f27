// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  volatile const float* p = x;
  while (p[0] != 123456.0f) {
  }
  y[blockIdx.x] = 0;
}
