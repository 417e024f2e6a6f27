// SPDX-License-Identifier: Apache-2.0
// Moves whole vectors and computes nothing.
extern "C" void kernel(void** arguments) {
  const float* __restrict__ in = *static_cast<const float**>(arguments[0]);
  float* __restrict__ out = *static_cast<float**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
#pragma omp simd
  for (long i = 0; i < n; ++i) {
    out[i] = in[n + i] < 0.0f ? 0.0f : in[i];
  }
}
