// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (long r = 0; r < kRows; ++r) {
    double all = 0;
  #pragma omp parallel num_threads(2)
    {
      double sum = 0;
  #pragma omp for nowait
      for (long i = 0; i < kColumns; ++i) sum += x[r * kColumns + i];
  #pragma omp critical
      all += sum;
    }
    y[r] = float(all);
  }
}
