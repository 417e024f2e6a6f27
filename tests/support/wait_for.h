// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QEventLoop>
#include <QTimer>

#include <chrono>
#include <functional>

namespace swage::testing {

// Runs the event loop until the condition holds. False: it still did not when the deadline was over, which is far
// beyond what a loaded machine needs, so that a test that passes never waits for it.
[[nodiscard]] inline bool waitFor(const std::function<bool()>& condition,
                                  std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  const QDeadlineTimer deadline(limit);
  QTimer wake;  // so that a condition on the world outside the event loop is looked at, too
  wake.start(std::chrono::milliseconds(5));
  while (!condition()) {
    if (deadline.hasExpired()) {
      return condition();
    }
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return true;
}

// Lets happen what the event loop has been given so far: posted events, and what they post in turn a few times over.
// For tests that say that nothing happens.
inline void turnEventLoop() {
  constexpr int kTurns = 5;
  for (int turn = 0; turn < kTurns; ++turn) {
    bool passed = false;
    QTimer::singleShot(0, [&passed] { passed = true; });
    static_cast<void>(waitFor([&passed] { return passed; }));
  }
}

// Waits until a value stays what it is: a window that has just been shown or resized is still being laid out.
template <class Value>
[[nodiscard]] bool waitUntilStill(const Value& value) {
  constexpr int kLooks = 8;
  auto last = value();
  int same = 0;
  return waitFor([&] {
    auto now = value();
    same = now == last ? same + 1 : 0;
    last = now;
    return same == kLooks;
  });
}

}  // namespace swage::testing
