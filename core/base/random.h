// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/base/assert.h"

namespace swage {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
// Used instead of <random>'s distributions because those differ between standard libraries,
// and a run must give the same candidates for the same seed everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_state(seed) {}

  [[nodiscard]] std::uint64_t next() {
    m_state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }

  // Uniform in [0, bound); bound > 0. The bias of the multiply-shift is below 2^-32 for the bounds we use.
  [[nodiscard]] std::size_t below(std::size_t bound) {
    SWAGE_ASSERT(bound > 0);
    return static_cast<std::size_t>(((next() >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
  }

  // Uniform in [0, 1).
  [[nodiscard]] double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  [[nodiscard]] bool chance(double probability) { return unit() < probability; }

  template <class T>
  [[nodiscard]] const T& pick(std::span<const T> items) {
    return items[below(items.size())];
  }

  [[nodiscard]] std::uint64_t state() const { return m_state; }
  // A generator whose stream is independent of what is drawn here later.
  [[nodiscard]] Random fork() { return Random(next()); }

 private:
  std::uint64_t m_state;
};

}  // namespace swage
