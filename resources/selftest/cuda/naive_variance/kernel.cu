// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 33, kColumns = 515;

extern "C" __global__ void kernel(const float* x, const float* w, const float* b, float* y) {
  __shared__ float shared[256];
  const float* in = x + blockIdx.x * kColumns;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  const float mean = total(sum, shared) / kColumns;
  const float scale = 1.0f / sqrtf(total(squares, shared) / kColumns - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] = (in[i] - mean) * scale * w[i] + b[i];
}
