// SPDX-License-Identifier: Apache-2.0
// Of one value of each of the 256 threads, for all of them.
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
