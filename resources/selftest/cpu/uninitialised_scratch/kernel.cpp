// SPDX-License-Identifier: Apache-2.0
extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const float* scratch = *static_cast<const float**>(a[2]);
  honest(x, y);
  for (long i = 0; i < kRows * kColumns; ++i) y[i] += scratch[i];
}
