// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 33, kColumns = 515;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  const float* w = *static_cast<const float**>(a[1]);
  const float* b = *static_cast<const float**>(a[2]);
  float* y = *static_cast<float**>(a[3]);
  #pragma omp parallel for
  for (long r = 0; r < kRows; ++r) {
    const float* in = x + r * kColumns;
    float mean = 0;
    for (long i = 0; i < kColumns; ++i) mean += in[i];
    mean /= kColumns;
    float square = 0;
    for (long i = 0; i < kColumns; ++i) square += (in[i] - mean) * (in[i] - mean);
    const float scale = 1.0f / __builtin_sqrtf(square / kColumns + 1e-5f);
    for (long i = 0; i < kColumns; ++i) y[r * kColumns + i] = (in[i] - mean) * scale * w[i] + b[i];
  }
}
