// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

extern "C" void exponentials(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* t = *static_cast<float**>(a[1]);
  for (long i = 0; i < kRows * kColumns; ++i) t[i] = x[i];
#pragma omp parallel for
  for (long r = 0; r < kRows; ++r) {
    float largest = t[r * kColumns];
    for (long i = 0; i < kColumns; ++i) largest = __builtin_fmaxf(largest, t[r * kColumns + i]);
    for (long i = 0; i < kColumns; ++i) t[r * kColumns + i] = __builtin_expf(t[r * kColumns + i] - largest);
  }
}

extern "C" void quotients(void** a) {
  const float* t = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
#pragma omp parallel for
  for (long r = 0; r < kRows; ++r) {
    double sum = 0;
    for (long i = 0; i < kColumns; ++i) sum += t[r * kColumns + i];
    for (long i = 0; i < kColumns; ++i) y[r * kColumns + i] = float(t[r * kColumns + i] / sum);
  }
}
