// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  #pragma omp parallel
  {
  #pragma omp for schedule(dynamic, 1)
    for (long part = 0; part < 16; ++part)
      for (long r = 0; r < kRows; ++r) {
        double sum = 0;
        for (long i = part; i < kColumns; i += 16) sum += x[r * kColumns + i];
        const float share = float(sum);
  #pragma omp atomic
        y[r] += share;
      }
  }
}
