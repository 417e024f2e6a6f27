// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (long r = 0; r < kRows; ++r) {
    float sum = 0;
    for (long i = 0; i < kColumns; ++i) {
      const float v = x[r * kColumns + i];
      sum += y[r * kColumns + i] = 1.0f + v + 0.5f * v * v;
    }
    for (long i = 0; i < kColumns; ++i) y[r * kColumns + i] /= sum;
  }
}
