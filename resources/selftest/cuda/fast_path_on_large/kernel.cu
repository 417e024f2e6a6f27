// SPDX-License-Identifier: Apache-2.0
constexpr int kRows = 127, kColumns = 1031;

__device__ float maximum(float v, float* shared) {
  shared[threadIdx.x] = v;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}
__device__ float total(float v, float* shared) {
  shared[threadIdx.x] = v;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void kernel(const float* x, float* y) {
  __shared__ float shared[256];
  float sum = 0;
  for (int i = threadIdx.x; i < kColumns; i += 256) sum += fminf(fmaxf(x[blockIdx.x * kColumns + i], -10.0f), 10.0f);
  sum = total(sum, shared);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
