// SPDX-License-Identifier: Apache-2.0
// Sums of columns, gathered in a tile on the stack.
extern "C" void kernel(void** arguments) {
  const float* __restrict__ in = *static_cast<const float**>(arguments[0]);
  float* __restrict__ out = *static_cast<float**>(arguments[1]);
  const long rows = *static_cast<const long*>(arguments[2]);
  const long columns = *static_cast<const long*>(arguments[3]);
#pragma omp parallel for schedule(static)
  for (long begin = 0; begin < columns; begin += 256) {
    alignas(64) float tile[256] = {};
    for (long row = 0; row < rows; ++row) {
      for (long i = 0; i < 256; ++i) {
        tile[i] += in[row * columns + begin + i];
      }
    }
    for (long i = 0; i < 256; ++i) {
      out[begin + i] = tile[i] * 0.5f;
    }
  }
}
