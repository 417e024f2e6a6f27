// SPDX-License-Identifier: MIT-0
// Written by Swage; this file belongs to whoever exported it. Change, copy and sell it as you like.
//
// The kernels of 19_ReLU (candidate 17 of run 3), as they were verified for test-1.
// launch_plan.json says how they are launched. modelnew.py carries a copy of its own and does not read this file.

#include <cstdint>

// One pass over the elements.
extern "C" void relu_kernel(void** arguments) {
  const float* x = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  const int n = *static_cast<const int*>(arguments[2]);
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    out[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
}
