// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

extern "C" void kernel(void** a) {
  for (long r = 0; r < kRows; ++r) {
    const float* x = *static_cast<const float**>(a[0]) + r * kColumns;
    float* y = *static_cast<float**>(a[1]) + r * kColumns;
    float most = 0;
    for (long i = 0; i < kColumns; ++i) most = x[i] > most ? x[i] : most;
    float sum = 0;
    for (long i = 0; i < kColumns; ++i) sum += y[i] = __builtin_expf(x[i] - most);
    for (long i = 0; i < kColumns; ++i) y[i] /= sum;
  }
}
