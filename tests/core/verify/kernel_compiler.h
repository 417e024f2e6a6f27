// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace swage::testing {

// The bytes of a shared object that the system's C++ compiler makes of `source`. Ends the test program on failure.
[[nodiscard]] std::string compileSharedObject(std::string_view source);

// What sources of kernels that take (const float* x, float* y, std::int64_t n) begin with: KERNEL(name) { body }.
inline constexpr const char* kKernelMacro = R"(
#include <cstdint>
#define KERNEL(name)                                                       \
  static void name##Body(const float* x, float* y, std::int64_t n);       \
  extern "C" void name(void** a) {                                         \
    name##Body(*static_cast<const float**>(a[0]), *static_cast<float**>(a[1]), *static_cast<std::int64_t*>(a[2])); \
  }                                                                        \
  static void name##Body([[maybe_unused]] const float* x, float* y, std::int64_t n)
static float relu(float v) { return v < 0 ? 0 : v; }
)";

}  // namespace swage::testing
