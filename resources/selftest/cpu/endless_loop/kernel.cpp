// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 127, kColumns = 1031;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  volatile const float* p = x;
  while (p[0] != 123456.0f) {
  }
  y[0] = 0;
}
