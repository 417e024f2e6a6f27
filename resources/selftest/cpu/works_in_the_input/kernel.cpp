// SPDX-License-Identifier: Apache-2.0
extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  float* t = const_cast<float*>(x);
  for (long r = 0; r < kRows; ++r) {
    float sum = 0;
    for (long i = 0; i < kColumns; ++i) sum += t[r * kColumns + i] = __builtin_expf(t[r * kColumns + i]);
    for (long i = 0; i < kColumns; ++i) y[r * kColumns + i] = t[r * kColumns + i] / sum;
  }
}
