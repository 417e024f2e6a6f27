// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 65, kColumns = 777;

// One row, right.
static void row(const float* x, float* y) {
  float largest = x[0];
  for (long i = 1; i < kColumns; ++i) largest = x[i] > largest ? x[i] : largest;
  double sum = 0;
  for (long i = 0; i < kColumns; ++i) sum += y[i] = __builtin_expf(x[i] - largest);
  for (long i = 0; i < kColumns; ++i) y[i] = float(y[i] / sum);
}
static void honest(const float* x, float* y) {
#pragma omp parallel for
  for (long r = 0; r < kRows; ++r) row(x + r * kColumns, y + r * kColumns);
}
