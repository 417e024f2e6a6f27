// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x, float* y) {
  honest(x, y);
  __syncthreads();
  if (threadIdx.x == 7) const_cast<float*>(x)[blockIdx.x * kColumns + 3] += 1.0f;
}
