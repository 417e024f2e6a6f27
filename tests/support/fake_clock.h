// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace swage::testing {

// A steady clock that only moves when told to. Copies of now() keep it alive.
class FakeClock {
 public:
  void advance(std::chrono::nanoseconds by) { *m_now += by; }
  [[nodiscard]] std::function<std::chrono::steady_clock::time_point()> now() const {
    return [now = m_now] { return *now; };
  }

 private:
  std::shared_ptr<std::chrono::steady_clock::time_point> m_now =
      std::make_shared<std::chrono::steady_clock::time_point>();
};

}  // namespace swage::testing
