// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void kernel(const float* x) {
  if (x == nullptr) __trap();
}
