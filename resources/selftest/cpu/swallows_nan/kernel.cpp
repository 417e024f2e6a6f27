// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 129, kColumns = 259;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  const float* w = *static_cast<const float**>(a[1]);
  const float* b = *static_cast<const float**>(a[2]);
  float* y = *static_cast<float**>(a[3]);
  for (long i = 0; i < kRows * kColumns; ++i) y[i] = __builtin_fmaxf(x[i] * w[i % kColumns] + b[i % kColumns], 0.0f);
}
