// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 509, kColumns = 1031;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[512];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += x[blockIdx.x * kColumns + i];
  shared[2 * threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 512; ++i) all += reinterpret_cast<volatile float*>(shared)[i];
    y[blockIdx.x] = all;
  }
}
