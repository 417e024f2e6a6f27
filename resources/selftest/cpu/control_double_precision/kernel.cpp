// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  #pragma omp parallel for
  for (long r = 0; r < kRows; ++r) {
    double largest = x[r * kColumns], sum = 0;
    for (long i = 0; i < kColumns; ++i) largest = __builtin_fmax(largest, x[r * kColumns + i]);
    for (long i = 0; i < kColumns; ++i) sum += __builtin_exp(x[r * kColumns + i] - largest);
    for (long i = 0; i < kColumns; ++i) y[r * kColumns + i] = float(__builtin_exp(x[r * kColumns + i] - largest) / sum);
  }
}
