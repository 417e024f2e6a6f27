// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 129, kColumns = 259;
__device__ const float table[4] = {1, 1, 1, 1};
__constant__ float zeroes[4] = {0, 0, 0, 0};

extern "C" __global__ void kernel(const float* x, const float* w, const float* b, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < kRows * kColumns) {
    const float v = x[i] * w[i % kColumns] * table[i % 4] + b[i % kColumns];
    y[i] = v < zeroes[i % 4] ? zeroes[i % 4] : v;
  }
}
