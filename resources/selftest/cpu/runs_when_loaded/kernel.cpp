// SPDX-License-Identifier: Apache-2.0
struct Early {
  Early();
  int calls;
};
Early::Early() { calls = 1; }
static Early early;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  honest(x, y);
}
