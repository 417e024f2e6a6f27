// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 65, kColumns = 777;

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ double sums[256];
  double largest = x[blockIdx.x * kColumns], sum = 0;
  for (int i = 0; i < kColumns; ++i) largest = fmax(largest, static_cast<double>(x[blockIdx.x * kColumns + i]));
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += exp(x[blockIdx.x * kColumns + i] - largest);
  sums[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < 256; ++i) sum += sums[i];
  for (int i = threadIdx.x; i < kColumns; i += 256) y[blockIdx.x * kColumns + i] = exp(x[blockIdx.x * kColumns + i] - largest) / sum;
}
