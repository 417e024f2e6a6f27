// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 33, kColumns = 515;

extern "C" __global__ void kernel(const float* x, const float* w, const float* b, float* y) {
  __shared__ float shared[256];
  const float* in = x + blockIdx.x * kColumns;
  float mean = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) mean += in[i];
  mean = total(mean, shared) / kColumns;
  float square = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) square += (in[i] - mean) * (in[i] - mean);
  const float scale = 1.0f / sqrtf(total(square, shared) / kColumns + 1e-5f);
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] = (in[i] - mean) * scale * w[i] + b[i];
}
