// SPDX-License-Identifier: Apache-2.0
// Element by element, vectorised by the compiler inside a parallel region.
extern "C" void kernel(void** arguments) {
  const float* __restrict__ in = *static_cast<const float**>(arguments[0]);
  float* __restrict__ out = *static_cast<float**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; ++i) {
    out[i] = in[i] * 2.0f + 1.0f;
  }
}
