// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

constexpr std::int64_t kRows = 509, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  #pragma omp parallel
  {
  #pragma omp for schedule(dynamic, 1)
    for (std::int64_t part = 0; part < 16; ++part)
      for (std::int64_t r = 0; r < kRows; ++r) {
        double sum = 0;
        for (std::int64_t i = part; i < kColumns; i += 16) sum += x[r * kColumns + i];
        const float share = float(sum);
  #pragma omp atomic
        y[r] += share;
      }
  }
}
