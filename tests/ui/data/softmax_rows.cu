// SPDX-License-Identifier: Apache-2.0
// Softmax of each row of [4096, 1024]: one block for each row, four elements for each thread.
extern "C" __global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float partial[8];
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const float4 in = reinterpret_cast<const float4*>(x + blockIdx.x * 1024)[threadIdx.x];
  float maximum = fmaxf(fmaxf(in.x, in.y), fmaxf(in.z, in.w));
  for (int step = 16; step > 0; step /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, step));
  }
  if (lane == 0) partial[warp] = maximum;
  __syncthreads();
  for (int i = 0; i < 8; ++i) {
    maximum = fmaxf(maximum, partial[i]);
  }
  const float4 e = {__expf(in.x - maximum), __expf(in.y - maximum), __expf(in.z - maximum), __expf(in.w - maximum)};
  float sum = e.x + e.y + e.z + e.w;
  for (int step = 16; step > 0; step /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, step);
  }
  __syncthreads();
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; ++i) {
    sum += partial[i];
  }
  const float scale = 1.0f / sum;
  reinterpret_cast<float4*>(y + blockIdx.x * 1024)[threadIdx.x] = {e.x * scale, e.y * scale, e.z * scale, e.w * scale};
}
