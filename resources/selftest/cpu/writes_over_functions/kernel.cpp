// SPDX-License-Identifier: Apache-2.0
extern "C" float expf(float);

extern "C" void kernel(void** a) {
  honest(*static_cast<const float**>(a[0]), *static_cast<float**>(a[1]));
  *reinterpret_cast<volatile unsigned char*>(&expf) = 0xC3;
}
