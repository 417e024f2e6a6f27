// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void kernel(const float* x, float* y) {
  if (x == nullptr) y[0] = 0;
}
