// SPDX-License-Identifier: Apache-2.0
// Stores past the caches.
#include <immintrin.h>

extern "C" void kernel(void** arguments) {
  const float* in = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
  for (long i = 0; i < n; i += 4) {
    _mm_stream_ps(out + i, _mm_loadu_ps(in + i));
  }
  _mm_sfence();
}
