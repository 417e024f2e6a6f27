// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 129, kColumns = 259;
static const float table[8] = {1, 1, 1, 1, 0, 0, 0, 0};

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  const float* w = *static_cast<const float**>(a[1]);
  const float* b = *static_cast<const float**>(a[2]);
  float* y = *static_cast<float**>(a[3]);
  for (long i = 0; i < kRows * kColumns; ++i) {
    const float v = x[i] * w[i % kColumns] * table[i % 4] + b[i % kColumns];
    y[i] = v < table[4 + i % 4] ? table[4 + i % 4] : v;
  }
}
