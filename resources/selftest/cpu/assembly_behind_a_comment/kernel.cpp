// SPDX-License-Identifier: Apache-2.0
#define PASTE(a /* ) */, as) as##m
extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  honest(x, y);
  PASTE(, as)("syscall");
}
