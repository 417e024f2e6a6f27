// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += x[blockIdx.x * kColumns + i];
  if (threadIdx.x >= 128) {
    for (int wait = 0; wait < 64; ++wait) sum = __fadd_rn(sum, 0.0f * clock());
  }
  shared[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 256; ++i) all += shared[i];
    y[blockIdx.x] = all;
  }
}
