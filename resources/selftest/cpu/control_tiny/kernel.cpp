// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 1, kColumns = 7;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (int i = 0; i < 7; ++i) y[i] = x[i] < 0.0f ? 0.0f : x[i];
}
