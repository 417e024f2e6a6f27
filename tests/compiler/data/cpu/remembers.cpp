// SPDX-License-Identifier: Apache-2.0
// Keeps a result from one call to the next, as a cheat would.
static float remembered[4096];

extern "C" void kernel(void** arguments) {
  const float* in = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  for (int i = 0; i < 4096; ++i) {
    remembered[i] += in[i];
    out[i] = remembered[i];
  }
}
