// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  const int row = blockIdx.x;
  float sum = 0;
  if (row < kRows) {
    for (int i = threadIdx.x; i < kColumns; i += 256) sum += x[row * kColumns + i];
    sum = total(sum, shared);
  }
  if (threadIdx.x == 0) y[row % kRows] = sum;
}
