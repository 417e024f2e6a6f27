// SPDX-License-Identifier: Apache-2.0
struct Flawed : Honest {
  static constexpr int kDepthEnd = kDepth / kStep * kStep;
};

extern "C" __global__ void __launch_bounds__(128) kernel(const float* x, const float* y, float* out) {
  product<Flawed>(x, y, out);
}
