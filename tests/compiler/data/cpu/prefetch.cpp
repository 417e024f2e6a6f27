// SPDX-License-Identifier: Apache-2.0
// Asks for data before it is needed.
extern "C" void kernel(void** arguments) {
  const float* __restrict__ in = *static_cast<const float**>(arguments[0]);
  float* __restrict__ out = *static_cast<float**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
  for (long i = 0; i < n; i += 16) {
    __builtin_prefetch(in + i + 512);
#pragma omp simd
    for (long k = 0; k < 16; ++k) {
      out[i + k] = in[i + k] + 1.0f;
    }
  }
}
