// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  volatile float* out = y;
  for (long r = 0; r < kRows; ++r) out[r] = 0;
  #pragma omp parallel num_threads(4)
  for (long r = 0; r < kRows; ++r) {
    float share = 0;
  #pragma omp for nowait
    for (long i = 0; i < kColumns; ++i) share += x[r * kColumns + i];
    const float seen = out[r];
  #pragma omp barrier
    out[r] = seen + share;
  #pragma omp barrier
  }
}
