// SPDX-License-Identifier: Apache-2.0
// Double buffering by asynchronous copies.
__device__ void copyAsync(float* shared, const float* global) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n" ::"r"(address), "l"(global));
}

extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int tiles) {
  __shared__ float buffer[2][256];
  const int t = threadIdx.x;
  copyAsync(&buffer[0][t], in + t);
  asm volatile("cp.async.commit_group;\n");
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      copyAsync(&buffer[(tile + 1) & 1][t], in + (tile + 1) * 256 + t);
    }
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 1;\n");
    __syncthreads();
    sum += buffer[tile & 1][(t + 1) & 255];
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = sum;
}
