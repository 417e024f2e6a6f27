// SPDX-License-Identifier: Apache-2.0
// A recurrence that cannot be vectorised.
extern "C" void kernel(void** arguments) {
  const float* in = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
  float state = 0.0f;
  for (long i = 0; i < n; ++i) {
    state = state * 0.5f + in[i];
    out[i] = state;
  }
}
