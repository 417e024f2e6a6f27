// SPDX-License-Identifier: Apache-2.0
// Transposition through a tile in shared memory.
extern "C" __global__ void kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[16][17];
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n) {
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  }
  __syncthreads();
  const int tx = blockIdx.y * 16 + threadIdx.x;
  const int ty = blockIdx.x * 16 + threadIdx.y;
  if (tx < n && ty < n) {
    out[ty * n + tx] = tile[threadIdx.x][threadIdx.y];
  }
}
