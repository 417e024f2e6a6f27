// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

constexpr std::int64_t kRows = 257, kColumns = 777;

extern "C" void exponentials(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* t = *static_cast<float**>(a[1]);
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) t[i] = x[i];
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    float largest = t[r * kColumns];
    for (std::int64_t i = 0; i < kColumns; ++i) largest = std::fmax(largest, t[r * kColumns + i]);
    for (std::int64_t i = 0; i < kColumns; ++i) t[r * kColumns + i] = std::exp(t[r * kColumns + i] - largest);
  }
}

extern "C" void quotients(void** a) {
  const float* t = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    float sum = 0;
    for (std::int64_t i = 0; i < kColumns; ++i) sum += t[r * kColumns + i];
    for (std::int64_t i = 0; i < kColumns; ++i) y[r * kColumns + i] = t[r * kColumns + i] / sum;
  }
}
