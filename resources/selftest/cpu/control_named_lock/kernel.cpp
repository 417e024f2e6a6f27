// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031, kParts = 4;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  double sums[kRows] = {};
#pragma omp parallel for
  for (long part = 0; part < kParts; ++part) {
    double own[kRows] = {};
    for (long r = 0; r < kRows; ++r)
      for (long i = part; i < kColumns; i += kParts) own[r] += x[r * kColumns + i];
#pragma omp critical(sums)
    for (long r = 0; r < kRows; ++r) sums[r] += own[r];
  }
  for (long r = 0; r < kRows; ++r) y[r] = float(sums[r]);
}
