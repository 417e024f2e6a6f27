// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 129, kColumns = 259;

extern "C" __global__ void kernel(const float* x, const float* w, const float* b, float* y) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < kRows * kColumns; i += gridDim.x * 256) {
    const float v = x[i] * w[i % kColumns] + b[i % kColumns];
    y[i] = v < 0.0f ? 0.0f : v;
  }
}
