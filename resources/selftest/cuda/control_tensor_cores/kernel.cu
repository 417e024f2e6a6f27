// SPDX-License-Identifier: Apache-2.0
extern "C" __global__ void __launch_bounds__(128) kernel(const float* x, const float* y, float* out) {
  product<Honest>(x, y, out);
}
