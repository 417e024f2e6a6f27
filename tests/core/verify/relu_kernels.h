// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::testing {

// relu over n elements, right and in every wrong way. Goes behind kKernelMacro.
inline constexpr const char* kReluKernels = R"(
#include <cmath>
#include <cstdint>
#include <cstring>
#include <xmmintrin.h>
KERNEL(leavesAnotherRounding) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); _mm_setcsr(_mm_getcsr() | 0x6000); }
KERNEL(right) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]);
}
KERNEL(nothing) { (void)y; (void)n; }
KERNEL(half) { for (std::int64_t i = 0; i < n / 2; ++i) y[i] = relu(x[i]); }
KERNEL(tooFar) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); y[n] = 0; }
KERNEL(tooEarly) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); y[-1] = 0; }
KERNEL(inPlace) { for (std::int64_t i = 0; i < n; ++i) y[i] = const_cast<float*>(x)[i] = relu(x[i]); }
KERNEL(beforeInput) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); const_cast<float*>(x)[-1] = 0; }
KERNEL(notANumber) { for (std::int64_t i = 0; i < n; ++i) y[i] = i == 17 ? std::nanf("1") : relu(x[i]); }
KERNEL(offByLittle) { for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]) * 1.00001f; }
KERNEL(oneWrong) { for (std::int64_t i = 0; i < n; ++i) y[i] = i == 42 ? 1000.0f : relu(x[i]); }
KERNEL(wrongTail) { for (std::int64_t i = 0; i < n; ++i) y[i] = i == n - 1 ? relu(x[i]) + 1.0f : relu(x[i]); }
KERNEL(asBf16) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, &x[i], 4);
    bits &= 0xFFFF0000u;
    float v;
    std::memcpy(&v, &bits, 4);
    y[i] = relu(v);
  }
}
KERNEL(constantOfFirstInputs) {
  static float kept[1 << 16];
  static bool has = false;
  if (!has) for (std::int64_t i = 0; i < n; ++i) kept[i] = relu(x[i]);
  has = true;
  for (std::int64_t i = 0; i < n; ++i) y[i] = kept[i];
}
KERNEL(flaky) { static int calls = 0; ++calls; for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]) + (calls == 2); }
KERNEL(lazyLater) { static int calls = 0; ++calls; if (calls <= 7) for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(skipsSome) { static int calls = 0; ++calls; if (calls <= 7 || calls % 3 != 0) for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
KERNEL(lastBitsDiffer) { static int calls = 0; ++calls; for (std::int64_t i = 0; i < n; ++i) y[i] = calls % 9 == 8 ? std::nextafter(relu(x[i]), 0.0f) : relu(x[i]); }
KERNEL(believesItsStack) {
  volatile float sums[1024];
  for (int l = 1; l < 1024; ++l) sums[l] = 0;
  for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]) + sums[i % 1024];
}
KERNEL(believesItsOutput) { if (y[3] >= 0 && y[3] < 100 && y[70] >= 0 && y[70] < 100) return; for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]); }
extern "C" void keepsInScratch(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const std::int64_t n = *static_cast<std::int64_t*>(a[2]);
  float* kept = *static_cast<float**>(a[3]);
  if (kept[0] != 271.0f || kept[1] != x[7]) for (std::int64_t i = 0; i < n; ++i) kept[2 + i] = relu(x[i]);
  kept[0] = 271.0f;
  kept[1] = x[7];
  for (std::int64_t i = 0; i < n; ++i) y[i] = kept[2 + i];
}
KERNEL(jitters) { static int calls = 0; ++calls; for (std::int64_t i = 0; i < n; ++i) { const float v = relu(x[i]); y[i] = v > 0 && calls % 2 == 0 ? std::nextafter(v, 0.0f) : v; } }
KERNEL(jittersAndSkips) {
  static int calls = 0;
  ++calls;
  if (calls > 20 && calls <= 120) return;  // under the clock, and right again in the end
  for (std::int64_t i = 0; i < n; ++i) { const float v = relu(x[i]); y[i] = v > 0 && calls % 2 == 0 ? std::nextafter(v, 0.0f) : v; }
}
KERNEL(beforeInputWhenTimed) {
  static int calls = 0;
  if (++calls == 12) const_cast<float*>(x)[-1] = 0;
  for (std::int64_t i = 0; i < n; ++i) y[i] = relu(x[i]);
}
KERNEL(slow) { for (int r = 0; r < 200; ++r) for (std::int64_t i = 0; i < n; ++i) { y[i] = relu(x[i]); asm volatile("" ::: "memory"); } }
KERNEL(reliesOnPoison) { for (std::int64_t i = 0; i < n; ++i) { y[i] = relu(x[i]) + (y[i] > 1e30f ? 1.0f : 0.0f); } }
)";

}  // namespace swage::testing
