// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster wait for each other.
extern "C" __global__ void __cluster_dims__(2, 1, 1) kernel(const float* __restrict__ in, float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = in[i];
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" ::: "memory");
  out[i] = v;
}
