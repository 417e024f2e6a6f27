// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
#pragma omp parallel for
  for (long r = 0; r < kRows; ++r) {
    const float* from = x + r * kColumns;
    float* to = y + r * kColumns;
    float largest = from[0];
    for (long i = 1; i < kColumns; ++i) largest = from[i] > largest ? from[i] : largest;
    double sum = 0;
    for (long i = 0; i < kColumns; ++i) sum += to[i] = from[i] == 0.0f ? 0.0f : __builtin_expf(from[i] - largest);
    for (long i = 0; i < kColumns; ++i) to[i] = float(to[i] / sum);
  }
}
