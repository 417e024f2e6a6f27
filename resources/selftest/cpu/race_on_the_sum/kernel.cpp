// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

constexpr std::int64_t kRows = 509, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  volatile float* out = y;
  for (std::int64_t r = 0; r < kRows; ++r) out[r] = 0;
  #pragma omp parallel num_threads(4)
  for (int again = 0; again < 1; ++again)
  #pragma omp for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < kColumns; ++i)
      for (std::int64_t r = 0; r < kRows; ++r) out[r] = out[r] + x[r * kColumns + i];
}
