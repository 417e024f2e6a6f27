// SPDX-License-Identifier: Apache-2.0
// Threads add to one result.
extern "C" void kernel(void** arguments) {
  const int* in = *static_cast<const int**>(arguments[0]);
  int* out = *static_cast<int**>(arguments[1]);
  const long n = *static_cast<const long*>(arguments[2]);
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    if (in[i] > 3) {
#pragma omp atomic
      out[in[i] & 7] += 1;
    }
  }
}
