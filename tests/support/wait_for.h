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

}  // namespace swage::testing
